"""A schedule fires once, however many processes watch it."""

from datetime import UTC, datetime, timedelta
from functools import partial

from tests.interleaving.scene import Scene
from tests.interleaving.stage import Stage
from towpath.engine import schedules
from towpath.store.contract import Tx

LATE = datetime.now(UTC) - timedelta(hours=5)


async def due_schedule(scene: Scene) -> None:
    async def unit(tx: Tx) -> None:
        await tx.execute(
            "put_schedule", name=scene.queue, cron="0 * * * *", timezone="UTC", operation="work", queue=scene.queue,
            payload="null", tenant="default", priority=1, max_attempts=3, next_fire=LATE,
            origin="people", now=tx.now,
        )  # fmt: skip

    await scene.store.run(unit)


async def test_two_processes_fire_a_due_schedule_once_for_the_latest_time(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await due_schedule(scene)
        fire = partial(schedules.fire_due, scene.services)
        done = await scene.together(one=fire, other=fire)
        assert sorted(done.values()) == [0, 1]
        assert len(await scene.jobs()) == 1

    await stage.every_order(play)


async def test_a_schedule_that_is_paused_while_it_falls_due_fires_before_the_pause_or_not_at_all(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await due_schedule(scene)
        done = await scene.together(
            fire=lambda: schedules.fire_due(scene.services),
            pause=lambda: scene.store.run(lambda tx: tx.execute("pause_schedule", name=scene.queue, paused=True)),
        )
        assert len(await scene.jobs()) == done["fire"]

    await stage.every_order(play)

"""Whoever touches several jobs locks them all at once, in one order: then nobody ever waits in a circle.

Ids are made by clients and begin with their clock, so a child made on a machine whose clock is behind sorts before its
parent. The order must hold for those families too.
"""

import asyncio

import pytest

from tests.interleaving.scene import Scene
from tests.interleaving.stage import NOTHING, RELATIVES, Stage
from towpath.core.ids import uuid7
from towpath.core.records import Job, WorkerRow
from towpath.store import ledger
from towpath.store.contract import Claimed, Tx


async def upside_down(scene: Scene) -> tuple[Claimed, Claimed]:
    """A parent and its running child, whose id is the lower one."""
    lower = uuid7()
    parent = await scene.running(operation="parent")
    [new] = scene.offspring(parent, 1)
    new.id = lower
    await scene.store.run(scene.fan_out_unit(parent, [new]))
    await scene.settle(scene.closing(parent))()
    [child] = await scene.claim()
    assert child.id < parent.id
    return parent, child


async def settle_against_cancel(scene: Scene) -> None:
    parent, child = await upside_down(scene)
    done = await scene.together(settle=scene.succeed(child), cancel=scene.cancel(parent.id))
    assert [None] in done.values()


async def test_a_settle_going_up_and_a_cancel_going_down_never_deadlock(stage: Stage) -> None:
    scenes = await stage.every_order(settle_against_cancel, pass_by=NOTHING)
    assert [scene.again for scene in scenes] == [0] * len(scenes)


async def test_locking_relatives_one_after_the_other_would_deadlock(
    postgres_stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The obvious alternative, as a seeded bug: the test above would have caught it."""

    async def one_by_one(tx: Tx, ids: set[str]) -> list[Job]:
        verb = asyncio.current_task().get_name()
        found = []
        for job_id in sorted(ids, reverse=verb == "cancel"):
            found += await tx.jobs("lock_jobs", ids=[job_id])
            await ledger.reach(f"{job_id} locked")
        return found

    monkeypatch.setattr(ledger, "_lock", one_by_one)
    scenes = await postgres_stage.every_order(settle_against_cancel, pass_by=RELATIVES)
    assert any(scene.again for scene in scenes)


async def test_a_parent_that_fails_against_a_child_that_ends_surfaces_no_deadlock(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        _, child = await upside_down(scene)
        await scene.let_time_pass()
        done = await scene.together(settle=scene.succeed(child), expire=scene.expire())
        assert not [value for value in done.values() if isinstance(value, Exception)]

    await stage.every_order(play, pass_by=NOTHING)


async def join_row_by_row(stage: Stage) -> None:
    """What the planner chooses by itself once the table is large: each lease is looked up in the order it was given."""

    async def unit(tx: Tx) -> None:
        [row] = await tx.fetch_sql("SELECT quote_ident(current_database()) AS name")
        for method in ("hashjoin", "mergejoin", "seqscan", "bitmapscan"):
            await tx.execute_sql(f"ALTER DATABASE {row['name']} SET enable_{method} = off")

    await stage.store.run(unit)


async def test_a_heartbeat_for_many_jobs_and_a_batch_of_settles_never_wait_for_each_other(postgres_stage: Stage) -> None:
    """A third transaction holds the first job, so that both queue up behind it in the order that could go wrong."""
    await join_row_by_row(postgres_stage)

    async def play(scene: Scene) -> None:
        for _ in range(2):
            await scene.add()
        jobs = await scene.claim(2)
        first, second = sorted(jobs, key=lambda job: job.id)
        heart, row = scene.store.heart(), WorkerRow("worker", "worker")
        leases = [(second.id, second.attempt), (first.id, first.attempt)]

        async def holder() -> None:
            async with scene.store.transaction() as tx:
                await tx.jobs("lock_jobs", ids=[first.id])
                await ledger.reach("held")

        try:
            done = await scene.together(
                a_holder=holder,
                settle=scene.settle(scene.deferral(second, "sleep"), scene.deferral(first, "sleep")),
                renew=lambda: asyncio.to_thread(heart.beat, row, leases, 600.0),
            )
        finally:
            await asyncio.to_thread(heart.close)
        assert done["settle"] == [None, None]
        assert not isinstance(done["renew"], Exception), done["renew"]

    scenes = await postgres_stage.every_order(play, pass_by=RELATIVES | {"apply.locked"})
    assert any({"settle", "renew"} <= scene.waited for scene in scenes)
    assert [scene.again for scene in scenes] == [0] * len(scenes)

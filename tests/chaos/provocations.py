"""What to do to the engine so that a seeded bug, if it is there, shows. The engine without one takes all of it in stride."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from tests.chaos.client import Wish
from tests.chaos.run import Run
from tests.chaos.workload import NARROW, SCHEDULES

Provocation = Callable[[Run, str | None], Awaitable[None]]


def _options(bug: str | None) -> dict[str, str]:
    return {"bug": bug} if bug else {}


def work(*wishes: Wish, concurrency: int = 4) -> Provocation:
    """Has these done by a worker with the bug."""

    async def provoke(run: Run, bug: str | None) -> None:
        await run.client.enqueue_many(list(wishes))
        run.fleet.worker(concurrency=concurrency, **_options(bug))

    return provoke


async def zombie(run: Run, bug: str | None) -> None:
    """A worker freezes with its handler's result in hand; it wakes up while another one runs the job."""
    job_id = await run.client.enqueue("plain", {"seconds": 0.5})
    frozen = run.fleet.worker(freeze="worker.ran:1", **_options(bug))
    await run.until_seen("end", job_id)
    run.fleet.worker(**_options(bug))
    await run.until(lambda: len(run.sightings("start")) == 2, "the second worker began the job")
    frozen.resume()
    await run.until(lambda: len(run.sightings("end")) == 2, "the second handler ended")


async def cancel_late(run: Run, bug: str | None) -> None:
    """A job is cancelled between its handler's end and the settle."""
    job_id = await run.client.enqueue("chain")
    run.fleet.worker(linger="worker.ran:0.6", **_options(bug))
    await run.until_seen("end", job_id)
    await run.client.cancel(job_id)
    await asyncio.sleep(0.6)  # the settle that must not count has no signal of its own


async def long_job(run: Run, bug: str | None) -> None:
    """A healthy worker takes its time, well within its lease."""
    await run.client.enqueue("plain", {"seconds": 0.7})
    run.fleet.worker(**_options(bug))


async def schedule_slot(run: Run, bug: str | None) -> None:
    await run.make_due(SCHEDULES[0], datetime.now(UTC) - timedelta(seconds=5))
    run.fleet.worker(**_options(bug))
    await run.until_seen("start")


async def careless_client(run: Run, bug: str | None) -> None:
    client = run.fleet.client(**_options(bug))
    assert await asyncio.to_thread(client.wait, 20) == 0, client.output()
    run.fleet.worker(concurrency=8)


def crowd(many: int, few: int) -> list[Wish]:
    backlog: list[Wish] = [("fair", {}, {"tenant": "many"})] * many
    return backlog + [("fair", {}, {"tenant": "few"})] * few


PROVOCATIONS: dict[str, Provocation] = {
    "no-fence": zombie,
    "lost-event": work(("flaky", {"times": 1}, {})),
    "double-count": work(("spawner", {"leaves": 3}, {})),
    "hasty-rescue": long_job,
    "forgetful-steps": work(("steps", {}, {})),
    "no-lane-cap": work(*[("plain", {"seconds": 0.1}, {"lane": NARROW})] * 4),
    "no-queue-cap": work(*[("strict", {"seconds": 0.1}, {})] * 4),
    "cancel-overwritten": cancel_late,
    "ended-twice": work(("chain", {}, {})),
    "impatient-retry": work(("stubborn", {"times": 1}, {})),
    "no-cap-on-failures": work(("stubborn", {"times": 4}, {})),
    "early-start": work(("plain", {}, {"delay": 1.5})),
    "double-fire": schedule_slot,
    "backward-progress": work(("steps", {}, {})),
    "first-come": work(*crowd(150, 3), concurrency=2),
    "lost-enqueue": careless_client,
    "double-enqueue": careless_client,
}

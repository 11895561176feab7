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


class Work:
    """Jobs that a worker with the bug does wrong."""

    def __init__(self, *wishes: Wish, concurrency: int = 4) -> None:
        self.wishes, self._concurrency = list(wishes), concurrency

    async def __call__(self, run: Run, bug: str | None) -> None:
        await run.client.enqueue_many(self.wishes)
        run.fleet.worker(concurrency=self._concurrency, **_options(bug))


async def zombie(run: Run, bug: str | None) -> None:
    """A worker freezes with its handler's result in hand; it wakes up while another one runs the job."""
    job_id, frozen = await run.freeze("plain", {"seconds": 0.5}, **_options(bug))
    other = run.fleet.worker(**_options(bug))
    await run.until_seen("start", job_id, by=other)
    frozen.resume()
    await run.until_seen("end", job_id, by=other)
    for worker in (frozen, other):
        worker.terminate()
        await asyncio.to_thread(worker.wait, 20)


async def late_cancel(run: Run, bug: str | None) -> None:
    """A job is cancelled between its handler's end and the settle."""
    job_id, worker = await run.freeze("chain", **_options(bug))
    await run.client.cancel(job_id)
    worker.resume()


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
    "lost-event": Work(("flaky", {"times": 1}, {})),
    "double-count": Work(("spawner", {"leaves": 3}, {})),
    "hasty-rescue": Work(("plain", {"seconds": 0.7}, {})),
    "forgetful-steps": Work(("steps", {}, {})),
    "no-lane-cap": Work(*[("plain", {"seconds": 0.1}, {"lane": NARROW})] * 8),
    "no-queue-cap": Work(*[("strict", {"seconds": 0.1}, {})] * 4),
    "cancel-overwritten": late_cancel,
    "ended-twice": Work(("chain", {}, {})),
    "impatient-retry": Work(("stubborn", {"times": 1}, {})),
    "no-cap-on-failures": Work(("stubborn", {"times": 4}, {})),
    "early-start": Work(("plain", {}, {"delay": 2.0})),
    "double-fire": schedule_slot,
    "backward-progress": Work(("steps", {}, {})),
    "first-come": Work(*crowd(150, 3), concurrency=2),
    "lost-enqueue": careless_client,
    "double-enqueue": careless_client,
}

"""A table as it looks after weeks: nearly everything has succeeded, some has failed, some waits. Made by the engine's own
verbs, so that every row, event and count is what it would be."""

import json

from bench.subjects.server import OPERATION, QUEUE, make_app
from towpath.core.ids import uuid7
from towpath.core.outcomes import Failure
from towpath.core.records import DEFAULT_PRIORITY, PRIORITIES, NewJob
from towpath.core.transitions import Transition, fail, succeed
from towpath.engine.tending.rollups import roll_up
from towpath.store.contract import Claim, Claimed, Store

_BATCH = 1_000
_TENANTS = 10
_SAMPLE = 500
_WORKER = uuid7()


async def fill(url: str, jobs: int) -> list[str]:
    """Answers the ids of some of the jobs. Every tenth has failed, the last fiftieth waits for a worker."""
    sample: list[str] = []
    async with make_app(url) as app:
        store = app.services.store
        waiting = jobs // 50
        for first in range(0, jobs - waiting, _BATCH):
            made = await _enqueue(store, first, min(_BATCH, jobs - waiting - first))
            sample += made[:: max(1, jobs // _SAMPLE)]
            await _work_off(store, len(made))
            if first % (20 * _BATCH) == 0:
                await roll_up(store)  # what a janitor does every second
        for first in range(0, waiting, _BATCH):
            await _enqueue(store, first, min(_BATCH, waiting - first))
        await roll_up(store)
    return sample


async def _enqueue(store: Store, first: int, count: int) -> list[str]:
    new = []
    for number in range(first, first + count):
        tenant = f"tenant-{number % _TENANTS}"
        payload = json.dumps({"document": f"scan-{number}.pdf", "pages": number % 90})
        new.append(NewJob(uuid7(), OPERATION, QUEUE, payload, tenant=tenant, lane=tenant))
    return [made.id for made in await store.enqueue(new)]


async def _work_off(store: Store, count: int) -> None:
    """Like a worker: claims begin where the last one ended, so that what is done already costs nothing."""
    cursors = dict.fromkeys(PRIORITIES, 0.0) | await store.advance(QUEUE, {})
    while count > 0:
        claimed = await store.claim(Claim(QUEUE, _BATCH, _WORKER, 60.0, cursors))
        await store.settle([_ending(job, number) for number, job in enumerate(claimed)])
        cursors |= await store.advance(QUEUE, {DEFAULT_PRIORITY: max(job.pass_ for job in claimed)})
        count -= len(claimed)


def _ending(job: Claimed, number: int) -> Transition:
    if number % 10:
        return succeed(job.id, job.attempt, '{"pages": 12}', solo=job.solo)
    causes = ("the file is encrypted", "the provider refused the request", "page 3 has no text")
    failure = Failure("fatal", "ValueError", causes[number // 10 % 3], remedy="look at the file")
    return fail(job.id, job.attempt, failure)

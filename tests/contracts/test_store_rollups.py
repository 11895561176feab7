"""Counts for pages and charts: compacted by anybody, counted once, never from the jobs themselves."""

import asyncio

from tests.contracts.stores import opened
from towpath.core import transitions
from towpath.core.outcomes import Failure
from towpath.engine.rollups import roll_up

BROKEN = Failure("fatal", "Fatal", "broken")


async def depth(hands, queue: str = "q") -> tuple[int, int, int]:
    rows = {row["queue"]: row for row in await hands.store.read(lambda tx: tx.fetch("depths"))}
    return (rows[queue]["queued"], rows[queue]["running"], rows[queue]["waiting"])


async def flows(hands, operation: str = "op") -> dict[str, int]:
    names = ("created", "started", "succeeded", "partial", "failed", "cancelled", "retried")
    columns = ", ".join(f"sum({name}) AS {name}" for name in names)
    [row] = await hands.sql(f"SELECT {columns} FROM {hands.table('rollup')} WHERE operation = '{operation}'")
    return {name: int(row[name]) for name in names if row[name]}


async def live_through_everything(hands) -> None:
    await hands.enqueue_many(8)
    jobs = await hands.claim(7)
    await hands.settle(
        transitions.succeed(jobs[0].id, 1, None, solo=True),
        transitions.succeed(jobs[1].id, 1, None),
        transitions.fail(jobs[2].id, 1, BROKEN),
        transitions.finish_partial(jobs[3].id, 1, None, None),
        transitions.retry(jobs[4].id, 1, BROKEN, 60),
        transitions.defer(jobs[5].id, 1, "signal", wakes_seen=0, deadline=None, max_wait=60),
    )
    await hands.apply(transitions.cancel(jobs[6].id))


EXPECTED = {"created": 8, "started": 7, "succeeded": 2, "partial": 1, "failed": 1, "cancelled": 1, "retried": 1}


async def test_depths_and_flows_are_those_of_the_jobs(hands):
    await live_through_everything(hands)
    while await roll_up(hands.store):
        pass
    assert await depth(hands) == (2, 0, 1)
    assert await flows(hands) == EXPECTED


async def test_any_number_of_processes_may_compact_at_once(database_url, hands):
    async with opened(database_url) as other:
        await asyncio.gather(
            live_through_everything(hands), *(roll_up(who.store) for who in (hands, other) for _ in range(6))
        )
        while await roll_up(hands.store) or await roll_up(other.store):
            pass
    assert await depth(hands) == (2, 0, 1)
    assert await flows(hands) == EXPECTED
    assert await hands.count("tally") == 0


async def test_nothing_new_costs_no_write(hands):
    assert await roll_up(hands.store) == 0

"""Counts for pages and charts: compacted by anybody, counted once, never from the jobs themselves."""

import asyncio
import json
import struct

from tests.contracts.stores import AN_HOUR, opened
from towpath.core import histogram, transitions
from towpath.core.histogram import edge
from towpath.core.outcomes import Failure
from towpath.engine.tending.rollups import roll_up
from towpath.store import ledger
from towpath.store.contract import Claim

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
    assert await hands.count("count_delta") == 0


async def test_nothing_new_costs_no_write(hands):
    assert await roll_up(hands.store) == 0


async def buckets(hands, table: str = "histogram") -> dict[str, int]:
    rows = await hands.sql(f"SELECT what, sum(jobs) AS jobs FROM {hands.table(table)} GROUP BY what")
    return {row["what"]: int(row["jobs"]) for row in rows}


async def test_every_start_and_every_ending_is_in_the_histograms_whichever_statement_wrote_it(hands):
    await live_through_everything(hands)
    while await roll_up(hands.store):
        pass
    # Seven were started for the first time; two succeeded (one by each way), one failed, one was partial, one cancelled.
    assert await buckets(hands) == await buckets(hands, "lifetime_histogram") == {"wait": 7, "run": 5}


async def test_a_duration_is_in_the_bucket_of_its_length(hands):
    fast, slow = await hands.enqueue_many(2)
    await hands.shift("created_at", -100.0, fast, slow)
    for job in await hands.claim():
        await hands.shift("started_at", -50.0 if job.id == slow else -3.0, job.id)
        await hands.settle(transitions.succeed(job.id, 1, None, solo=job.id == slow))
    await roll_up(hands.store)
    rows = await hands.sql(f"SELECT what, bucket, jobs FROM {hands.table('histogram')} ORDER BY what, bucket")
    assert [(row["what"], row["jobs"]) for row in rows] == [("run", 1), ("run", 1), ("wait", 2)]
    for row, seconds in zip(rows, (3.0, 50.0, 100.0), strict=True):
        assert seconds <= edge(row["bucket"]) < seconds * 2**0.25 * 1.01


async def test_whoever_counts_durations_puts_them_into_the_same_buckets(hands):
    """PostgreSQL counts them itself, in single precision; for SQLite we do."""
    spent = [-1.0, 0.0, 0.0005, 0.001, 0.00100001, 0.0011, edge(3), edge(17), 0.5, 1.0, 59.9, 3600.0, 1e9, 1e13, 3e38]
    if hands.store.dialect == "sqlite":
        listed, expected = f"'{json.dumps(spent)}'", histogram.count(spent)
    else:
        listed = f"'{{{','.join(map(repr, spent))}}}'"
        expected = histogram.count(struct.unpack(f"{len(spent)}f", struct.pack(f"{len(spent)}f", *spent)))
    row = f"('q', 'op', {listed}, {listed})"
    await hands.sql(
        f"INSERT INTO {hands.table('count_delta')} (queue, operation, waits, runs) VALUES {row} RETURNING 1 AS done"
    )
    await roll_up(hands.store)
    rows = await hands.sql(f"SELECT what, bucket, jobs FROM {hands.table('histogram')}")
    for what in ("wait", "run"):
        assert {row["bucket"]: row["jobs"] for row in rows if row["what"] == what} == dict(expected)


async def test_counts_since_the_first_job_survive_what_is_pruned(hands):
    await live_through_everything(hands)
    while await roll_up(hands.store):
        pass
    await hands.sql(f"DELETE FROM {hands.table('rollup')} RETURNING 1 AS gone")
    [row] = await hands.store.read(lambda tx: tx.fetch("lifetimes"))
    assert {name: row[name] for name in EXPECTED} == EXPECTED


async def test_a_scheduled_job_has_waited_since_it_was_due(hands):
    for turn in ("claim", "turn"):
        before = await hands.start() if turn == "turn" else None
        await forget(hands)
        job_id = await hands.enqueue(run_at=await hands.store.read(_in_an_hour))
        await hands.shift("created_at", -86400.0, job_id)
        await hands.shift("run_at", -7200.0, job_id)
        await hands.shift("due_at", -7200.0, job_id)
        await hands.store.run(lambda tx: ledger.promote_due(tx, 10))
        if before is None:
            [job] = await hands.claim()
        else:
            _, [job] = await hands.store.turn(
                [transitions.succeed(before.id, 1, None, solo=True)], Claim("q", 10, "w", 30.0)
            )
        [row] = await hands.sql(f"SELECT sum(wait_seconds) AS seconds FROM {hands.table('count_delta')}")
        assert job.id == job_id
        assert 3500 < row["seconds"] < 7000  # an hour ago, not a day
        await hands.settle(transitions.succeed(job.id, 1, None, solo=True))


async def forget(hands) -> None:
    await hands.sql(f"DELETE FROM {hands.table('count_delta')} RETURNING 1 AS done")


async def _in_an_hour(tx):
    return tx.now + AN_HOUR

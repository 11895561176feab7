"""What is written after a lock was waited for bears the time after the wait, not that of the transaction's beginning."""

import asyncio
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import asyncpg
import pytest

from tests.contracts.stores import PATIENCE, new_job, opened, worker_row
from tests.contracts.streams import stream_since, stream_start
from towpath.core import transitions
from towpath.core.outcomes import Failure
from towpath.store import journal
from towpath.store.contract import Claim

LEASE = 6.0
_SOMEBODY_WAITS = "SELECT count(*) FROM pg_locks WHERE NOT granted"
_CHANGED = "UPDATE towpath.job SET wakes = wakes + 1 WHERE id = $1 RETURNING id"


@pytest.fixture
async def hands(postgres_url):
    async with opened(postgres_url) as own:
        yield own


@pytest.fixture
async def other(postgres_url):
    connection = await asyncpg.connect(postgres_url)
    yield connection
    await connection.close()


@asynccontextmanager
async def waiting_for(other, lock: str, *values):
    """Runs what the block starts against a lock that is held. Then it is let go, and `moments` has the time of that."""
    transaction = other.transaction()
    await transaction.start()
    assert await other.fetch(lock, *values)
    moments: list[datetime] = []
    yield moments
    async with asyncio.timeout(PATIENCE):
        while not await other.fetchval(_SOMEBODY_WAITS):  # noqa: ASYNC110  (the server sets no event of ours)
            await asyncio.sleep(0.005)
    moments.append(await other.fetchval("SELECT clock_timestamp()"))
    await transaction.commit()


async def test_a_claim_that_waited_for_the_cap_has_a_whole_lease(hands, other):
    await hands.queue(max_slots=5)
    job = await hands.enqueue()

    async with waiting_for(other, "SELECT 1 FROM towpath.queue FOR UPDATE") as moments:
        claiming = asyncio.create_task(hands.claim(1, lease=LEASE))
    await claiming

    row = await hands.job(job)
    assert row.lease_until >= moments[0] + timedelta(seconds=LEASE)
    assert row.started_at >= moments[0]
    assert (await hands.events(job))[-1].ts == row.started_at


async def test_a_turn_that_waited_for_what_it_ends_has_a_whole_lease_for_what_it_begins(hands, other):
    done = await hands.start()
    job = await hands.enqueue()

    async with waiting_for(other, _CHANGED, done.id) as moments:
        ending = [transitions.succeed(done.id, done.attempt, None, solo=True)]
        turning = asyncio.create_task(hands.store.turn(ending, Claim("q", 1, "w", LEASE)))
    await turning

    row = await hands.job(job)
    assert row.lease_until >= moments[0] + timedelta(seconds=LEASE)
    assert row.started_at >= (await hands.job(done.id)).finished_at >= moments[0]


async def test_a_success_that_waited_is_told_with_the_time_after_the_wait(hands, other):
    start = await stream_start(hands.store)
    done = await hands.start()

    async with waiting_for(other, _CHANGED, done.id) as moments:
        settling = asyncio.create_task(hands.settle(transitions.succeed(done.id, done.attempt, None, solo=True)))
    await settling

    events, _, _ = await stream_since(hands.store, start)
    assert events[-1].ts == (await hands.events(done.id))[-1].ts == (await hands.job(done.id)).finished_at >= moments[0]


async def test_a_renewal_that_waited_renews_from_then_on(hands, other):
    job = await hands.start()
    heart = hands.store.heart()
    try:
        async with waiting_for(other, _CHANGED, job.id) as moments:
            beating = asyncio.create_task(asyncio.to_thread(heart.beat, worker_row(), [(job.id, job.attempt)], LEASE))
        await beating
    finally:
        await asyncio.to_thread(heart.close)

    assert (await hands.job(job.id)).lease_until >= moments[0] + timedelta(seconds=LEASE)


async def spawn(hands, parent):
    child = new_job(parent_id=parent.id, root_id=parent.id, child_group="g")
    await hands.store.run(
        lambda tx: journal.fan_out(tx, parent.id, parent.attempt, kind="spawn", name="g", children=[child], awaited=False)
    )
    return child


async def test_a_family_that_was_waited_for_ends_after_the_wait(hands, other):
    parent = await hands.start()
    child = await spawn(hands, parent)
    await hands.settle(transitions.succeed(parent.id, parent.attempt, None))
    [claimed] = await hands.claim(1)

    async with waiting_for(other, _CHANGED, parent.id) as moments:
        settling = asyncio.create_task(hands.settle(transitions.succeed(claimed.id, claimed.attempt, None)))
    await settling

    above, below = await hands.jobs(parent.id, child.id)
    assert above.finished_at >= below.finished_at >= moments[0]
    assert (await hands.events(parent.id))[-1].ts == above.finished_at


async def test_a_parent_that_fails_and_waits_for_its_children_ends_after_the_wait(hands, other):
    """Children are locked after their parent, once it is known that it leaves some behind."""
    parent = await hands.start()
    child = await spawn(hands, parent)

    async with waiting_for(other, _CHANGED, child.id) as moments:
        failing = transitions.fail(parent.id, parent.attempt, Failure("fatal", "Fatal", "broken"))
        settling = asyncio.create_task(hands.settle(failing))
    await settling

    for job in await hands.jobs(parent.id, child.id):
        assert job.finished_at >= moments[0]
        assert (await hands.events(job.id))[-1].ts == job.finished_at


async def test_a_fan_out_that_waited_for_former_children_is_told_with_the_time_after_the_wait(hands, other):
    parent = await hands.start()
    former = await spawn(hands, parent)
    await hands.sql("DELETE FROM towpath.step RETURNING 1 AS done")  # as when an earlier outcome no longer holds

    async with waiting_for(other, _CHANGED, former.id) as moments:
        spawning = asyncio.create_task(spawn(hands, parent))
    await spawning

    assert (await hands.events(parent.id))[-1].ts >= moments[0]


async def test_times_do_not_contradict_the_order_of_a_jobs_events(hands, other):
    job = await hands.start()
    note = journal.Note(job.id, job.attempt, "noted")

    async with waiting_for(other, _CHANGED, job.id) as moments:
        noting = asyncio.create_task(hands.store.run(lambda tx: journal.record(tx, [note])))
    await noting

    assert (await hands.events(job.id))[-1].ts >= moments[0]

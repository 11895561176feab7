"""Heartbeats: leases are renewed on a connection of their own, and a lost one is told with its reason."""

import asyncio

import pytest

from tests.contracts.stores import worker_row
from towpath.core import transitions
from towpath.core.ids import uuid7


@pytest.fixture
async def heart(hands):
    own = hands.store.heart()
    yield own
    await asyncio.to_thread(own.close)


async def beat(heart, *leases, worker: str = "w", seconds: float = 30.0):
    return await asyncio.to_thread(heart.beat, worker_row(worker), list(leases), seconds)


async def test_a_beat_renews_the_leases_it_names(hands, heart):
    first, second = await hands.start(), await hands.start()
    until = (await hands.job(first.id)).lease_until
    assert (await beat(heart, (first.id, 1), seconds=600)).lost == {}
    assert (await hands.job(first.id)).lease_until > until
    assert (await hands.job(second.id)).lease_until < (await hands.job(first.id)).lease_until


async def test_a_beat_writes_no_event_and_moves_no_state(hands, heart):
    job = await hands.start()
    await beat(heart, (job.id, 1))
    assert await hands.names(job.id) == ["job.created", "job.started"]
    await hands.assert_truthful(job.id)


async def test_a_lost_lease_is_told_with_what_became_of_the_job(hands, heart):
    cancelled, released, fine = [await hands.start() for _ in range(3)]
    await hands.apply(transitions.cancel(cancelled.id), transitions.release(released.id, 1))
    gone = uuid7()
    lost = (await beat(heart, (cancelled.id, 1), (released.id, 1), (fine.id, 1), (gone, 1))).lost
    assert lost == {cancelled.id: "cancelled", released.id: "queued", gone: "gone"}


async def test_an_older_attempt_and_another_worker_renew_nothing(hands, heart):
    job = await hands.start()
    await hands.apply(transitions.release(job.id, 1))
    [again] = await hands.claim(worker="other")
    await hands.run_out(job.id)
    before = (await hands.job(job.id)).lease_until
    assert (await beat(heart, (job.id, 1))).lost == {job.id: "running"}
    assert (await beat(heart, (job.id, again.attempt), worker="w")).lost == {job.id: "running"}
    assert (await hands.job(job.id)).lease_until == before


async def test_the_lease_of_a_cancelled_job_is_not_prolonged(hands, heart):
    job = await hands.start()
    await hands.apply(transitions.cancel(job.id))
    before = (await hands.job(job.id)).lease_until
    await beat(heart, (job.id, 1), seconds=3600)
    assert (await hands.job(job.id)).lease_until == before


async def test_a_beat_says_that_the_worker_is_there(hands, heart):
    await beat(heart)
    await beat(heart)
    [row] = await hands.store.read(lambda tx: tx.fetch("workers"))
    assert (row["id"], row["name"], row["concurrency"], row["stopped_at"]) == ("w", "a worker", 4, None)


async def test_a_renewed_lease_is_not_rescued(hands, heart):
    job = await hands.start()
    await hands.run_out(job.id)
    await beat(heart, (job.id, 1))
    assert await hands.apply(transitions.rescue(job.id, 1)) == ["its lease is still good"]
    await hands.run_out(job.id)
    assert await hands.apply(transitions.rescue(job.id, 1)) == [None]


async def test_a_heart_that_has_never_beaten_can_be_closed(hands):
    await asyncio.to_thread(hands.store.heart().close)

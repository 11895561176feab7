"""A job that is leased has a row that says so, and no other job has one: it is how a rescue finds it without an index over
all jobs. `hands.assert_sound` compares the two after every test of a store."""

import pytest

from tests.contracts.stores import Hands, new_job
from towpath.core import transitions
from towpath.core.lifecycle import State
from towpath.core.outcomes import Failure
from towpath.store import ledger
from towpath.store.contract import Claim


async def leased(hands: Hands) -> set[str]:
    await hands.assert_sound()
    return {str(row["job_id"]) for row in await hands.sql(f"SELECT job_id FROM {hands.table('lease')}")}


async def test_a_claim_leases_what_it_took(hands):
    ids = await hands.enqueue_many(3)
    await hands.claim(2)
    assert await leased(hands) == set(ids[:2])


async def test_a_turn_ends_some_leases_and_begins_others(hands):
    first, other = await hands.start(), await hands.start()
    following = await hands.enqueue()
    await hands.store.turn([transitions.succeed(first.id, 1, None, solo=True)], Claim("q", 5, "w", 30.0))
    assert await leased(hands) == {other.id, following}


async def test_a_success_that_comes_too_late_ends_nobody_elses_lease(hands):
    job = await hands.start()
    await hands.run_out(job.id)
    await hands.apply(transitions.rescue(job.id, 1))
    [again] = await hands.claim()
    late = transitions.succeed(job.id, 1, None, solo=True)
    assert await hands.settle(late) != [None]
    await hands.store.turn([late], Claim("q", 5, "w", 30.0))
    assert await leased(hands) == {again.id}


async def test_a_claim_that_finds_nothing_leases_nothing(hands):
    assert await hands.claim() == []
    assert await leased(hands) == set()


@pytest.mark.parametrize(
    "ending",
    [
        lambda job: transitions.succeed(job.id, 1, None),
        lambda job: transitions.succeed(job.id, 1, None, solo=True),
        lambda job: transitions.fail(job.id, 1, Failure("fatal", "Broken", "it broke", "mend it")),
        lambda job: transitions.release(job.id, 1),
        lambda job: transitions.retry(job.id, 1, Failure("transient", "Away", "it was away"), 60.0),
        lambda job: transitions.defer(job.id, 1, "provider", wakes_seen=0, deadline=None, max_wait=3600.0),
    ],
    ids=["succeed", "succeed alone", "fail", "release", "retry", "defer"],
)
async def test_whatever_ends_a_lease_takes_its_row_away(hands, ending):
    job = await hands.start()
    assert await hands.settle(ending(job)) == [None]
    assert await leased(hands) == set()


async def test_whoever_works_on_a_waiting_job_leases_it_too(hands):
    job = await hands.start()
    waiting = transitions.defer(job.id, 1, "provider", wakes_seen=0, deadline=None, max_wait=3600.0)
    assert await hands.settle(waiting) == [None]
    assert await hands.apply(transitions.poll(job.id, "poller", 60.0)) == [None]
    assert await leased(hands) == {job.id}


async def test_a_cancelled_job_stays_leased_until_its_handler_has_ended(hands):
    job = await hands.start()
    await hands.apply(transitions.cancel(job.id))
    assert await leased(hands) == {job.id}
    await hands.apply(transitions.requeue(job.id))
    assert await leased(hands) == {job.id}
    await hands.apply(transitions.handler_ended(job.id, 1))
    assert await leased(hands) == set()


async def test_a_job_that_is_claimed_again_is_counted_once(hands):
    job = await hands.start()
    await hands.run_out(job.id)
    await hands.apply(transitions.rescue(job.id, 1))
    [again] = await hands.claim()
    assert (again.id, again.attempt) == (job.id, 2)
    [row] = await hands.store.read(lambda tx: tx.fetch("leased_in_queue", queue="q"))
    assert row["used"] == 1


async def test_a_requeued_job_of_a_capped_lane_waits_behind_its_gate(hands):
    """An ended job no longer counts for its lane, and still knows that there was a gate."""
    await hands.lane(max_slots=1)
    failed = await hands.enqueue()
    [job] = await hands.claim()
    failure = transitions.Failure("fatal", "Broken", "it broke", "mend it")
    await hands.settle(transitions.fail(job.id, 1, failure))
    assert (await hands.job(failed)).gate == -1
    await hands.enqueue()
    [other] = await hands.claim()
    await hands.apply(transitions.requeue(failed))
    back = await hands.job(failed)
    assert (back.gate, back.parked, back.reason) == (1, True, "capped")
    await hands.settle(transitions.succeed(other.id, 1, None))
    assert [job.id for job in await hands.claim()] == [failed]


async def test_the_row_says_what_its_indexes_need(hands):
    ids = [await hands.enqueue(new_job(key=name)) for name in ("done", "failed", "live")]
    jobs = {job.id: job for job in await hands.claim(2)}
    await hands.settle(
        transitions.succeed(ids[0], 1, None, solo=True),
        transitions.fail(ids[1], 1, transitions.Failure("fatal", "Broken", "it broke", "mend it")),
    )
    assert set(jobs) == set(ids[:2])
    rows = [(job.rare_state, job.live_key) for job in await hands.jobs(*ids)]
    assert rows == [(None, None), ("failed", None), (None, "live")]
    await hands.store.run(lambda tx: ledger.apply(tx, [transitions.requeue(ids[1])]))
    again = await hands.job(ids[1])
    assert (again.state, again.rare_state, again.live_key) == (State.QUEUED, None, "failed")

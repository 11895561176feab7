"""A queued job moves to another priority: it finds a place there by the same rules as a job that comes new."""

import pytest

from tests.contracts.stores import Hands
from towpath.core import transitions
from towpath.core.errors import JobNotFound, NotRequeueable
from towpath.core.outcomes import Failure
from towpath.engine.changing.priorities import reprioritize
from towpath.store import ledger
from towpath.store.contract import Claim

FAILURE = Failure("transient", "Oops", "oops")


async def claimed(hands: Hands, limit: int = 1) -> list[str]:
    return [job.id for job in await hands.claim(limit)]


async def test_a_ready_job_is_claimed_in_its_new_band(hands: Hands):
    first, second, third = [await hands.enqueue() for _ in range(3)]
    await reprioritize(hands.store, third, 0)
    await reprioritize(hands.store, first, 3)
    assert await claimed(hands, 3) == [third, second, first]
    await hands.assert_truthful()


async def test_its_place_is_behind_its_own_lane_and_fair_to_others(hands: Hands):
    """In the new band it takes the turn of a job that comes now, not the turn it had."""
    mine = await hands.enqueue_many(3, tenant="a", priority=2)
    others = [await hands.enqueue(tenant="b") for _ in range(2)] + [await hands.enqueue(tenant="a")]
    await reprioritize(hands.store, mine[0], 1)
    places = {job.id: job.pass_ for job in await hands.jobs(*others, mine[0])}
    assert places == {others[0]: 1.0, others[1]: 2.0, others[2]: 1.0, mine[0]: 2.0}


async def test_a_place_above_the_floor_is_found_by_the_next_claim(hands: Hands):
    """The old band has been worked on for long, so its passes are high; those of the new one are low, or the other way."""
    await hands.enqueue_many(20, priority=1)
    high = await hands.enqueue(priority=1)
    low = await hands.enqueue(priority=2)
    for _ in range(20):
        [job] = await hands.claim(1)
        await hands.settle(transitions.succeed(job.id, job.attempt, "null"))
    await hands.store.advance("q", {1: 20.0})
    await reprioritize(hands.store, low, 1)
    await reprioritize(hands.store, high, 2)
    rows = {job.id: job.pass_ for job in await hands.jobs(low, high)}
    assert (rows[low] > 20.0, rows[high]) == (True, 1.0)
    assert [job.id for job in await hands.store.claim(Claim("q", 5, "w", 30.0, {0: 0.0, 1: 20.0, 2: 0.0, 3: 0.0}))] == [
        low,
        high,
    ]


async def test_a_scheduled_job_keeps_its_time_and_comes_in_its_new_band(hands: Hands):
    scheduled = await hands.enqueue(delay=3600.0)
    plain = await hands.enqueue()
    job = await reprioritize(hands.store, scheduled, 0)
    assert (job.priority, job.ready, job.reason, job.run_at is not None) == (0, False, "scheduled", True)
    assert await claimed(hands, 5) == [plain]
    await hands.shift("run_at", -7200.0, scheduled)
    await hands.store.run(lambda tx: ledger.promote_due(tx, 10))
    assert await claimed(hands) == [scheduled]
    await hands.assert_truthful()


async def test_a_retry_that_waits_comes_at_the_front_of_its_new_band(hands: Hands):
    job = await hands.start()
    await hands.settle(transitions.retry(job.id, job.attempt, FAILURE, 3600.0))
    new = await hands.enqueue(priority=2)
    await reprioritize(hands.store, job.id, 2)
    await hands.shift("run_at", -7200.0, job.id)
    await hands.store.run(lambda tx: ledger.promote_due(tx, 10))
    assert await claimed(hands, 2) == [job.id, new]
    await hands.assert_truthful()


async def test_a_job_behind_its_lanes_cap_is_let_through_by_its_new_priority(hands: Hands):
    await hands.lane(max_slots=1)
    ids = [await hands.enqueue() for _ in range(3)]
    await reprioritize(hands.store, ids[2], 0)
    [running] = await hands.claim(5)
    assert running.id == ids[0]
    await hands.settle(transitions.succeed(running.id, running.attempt, "null"))
    assert await claimed(hands, 5) == [ids[2]]
    assert not (await hands.job(ids[1])).ready
    await hands.assert_truthful()


async def test_the_same_priority_changes_nothing(hands: Hands):
    job_id = await hands.enqueue()
    before = await hands.job(job_id)
    assert await reprioritize(hands.store, job_id, 1) == before == await hands.job(job_id)


async def test_what_has_begun_or_ended_is_refused_and_left_alone(hands: Hands):
    job = await hands.start()
    for _ in range(2):
        with pytest.raises(NotRequeueable, match="only a queued job"):
            await reprioritize(hands.store, job.id, 0)
        await hands.settle(transitions.succeed(job.id, job.attempt, "null"))
    assert (await hands.job(job.id)).priority == 1
    with pytest.raises(JobNotFound):
        await reprioritize(hands.store, "01890000-0000-7000-8000-000000000000", 0)


async def test_a_requeued_job_whose_old_handler_still_ends_can_be_moved(hands: Hands):
    job = await hands.start()
    await hands.apply(transitions.cancel(job.id))
    await hands.apply(transitions.requeue(job.id))
    moved = await reprioritize(hands.store, job.id, 0)
    assert (moved.reason, moved.priority) == ("ending", 0)
    await hands.apply(transitions.handler_ended(job.id, job.attempt))
    other = await hands.enqueue()
    assert await claimed(hands, 2) == [job.id, other]
    await hands.assert_truthful()

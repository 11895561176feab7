"""Taking jobs out: in fair order, never more than asked for, each by one worker only."""

import asyncio
from datetime import UTC, datetime, timedelta

from tests.contracts.stores import new_job, opened
from towpath import App
from towpath.core import transitions
from towpath.core.lifecycle import State
from towpath.store import ledger
from towpath.store.contract import EVERYWHERE, Claim


async def test_a_claim_makes_the_job_running_with_a_lease_and_says_so(hands):
    job_id = await hands.enqueue(tenant="alice", payload_json='{"a":1}', max_attempts=7)
    before = datetime.now(UTC)
    [claimed] = await hands.claim(worker="me", lease=60)
    assert (claimed.id, claimed.attempt, claimed.failures, claimed.max_attempts) == (job_id, 1, 0, 7)
    assert (claimed.payload_json, claimed.tenant, claimed.solo, claimed.root_id) == ('{"a":1}', "alice", True, job_id)
    job = await hands.job(job_id)
    assert (job.state, job.ready, job.leased, job.worker_id, job.attempt) == (State.RUNNING, False, True, "me", 1)
    assert abs(job.lease_until - before - timedelta(seconds=60)) < timedelta(seconds=30)
    assert job.started_at is not None
    assert [(event.name, event.attempt) for event in await hands.events(job_id)] == [("job.created", 0), ("job.started", 1)]
    await hands.assert_truthful(job_id)


async def test_every_claim_is_a_new_attempt(hands):
    job = await hands.start()
    for attempt in (2, 3):
        await hands.apply(transitions.release(job.id, attempt - 1))
        [again] = await hands.claim()
        assert (again.id, again.attempt) == (job.id, attempt)
    assert await hands.claim() == []


async def test_never_more_than_the_limit_and_lower_bands_first(hands):
    late = await hands.enqueue_many(3, priority=3)
    early = await hands.enqueue_many(2, priority=0)
    first = await hands.claim(3)
    assert [job.id for job in first] == [*early, late[0]]
    assert [job.id for job in await hands.claim(1)] == [late[1]]


async def test_lanes_take_turns_and_a_lane_keeps_its_own_order(hands):
    a = await hands.enqueue_many(3, tenant="a")
    b = await hands.enqueue_many(3, tenant="b")
    claimed = [job.id for job in await hands.claim()]
    assert [set(claimed[n : n + 2]) for n in (0, 2, 4)] == [{x, y} for x, y in zip(a, b, strict=True)]
    assert [job for job in claimed if job in a] == a


async def test_jobs_below_the_cursor_are_left_for_a_sweep(hands):
    ids = await hands.enqueue_many(3)
    passes = [(await hands.job(job_id)).pass_ for job_id in ids]
    cursors = dict.fromkeys(EVERYWHERE, passes[1])
    assert [job.id for job in await hands.store.claim(Claim("q", 10, "w", 30, cursors))] == ids[1:]
    assert [job.id for job in await hands.claim()] == ids[:1]


async def test_queues_do_not_see_each_other(hands):
    await hands.enqueue(queue="other")
    assert await hands.claim() == []
    assert len(await hands.claim(queue="other")) == 1


async def test_nothing_is_claimed_from_a_paused_queue_until_it_is_resumed(hands):
    await hands.enqueue()
    await hands.queue(paused=True)
    assert await hands.claim() == []
    await hands.queue(paused=False)
    assert len(await hands.claim()) == 1


async def test_a_paused_queue_with_a_cap_is_paused(hands):
    await hands.enqueue()
    await hands.queue(paused=True, max_slots=5)
    assert await hands.claim() == []


async def test_a_queue_never_has_more_leases_than_its_cap(hands):
    await hands.enqueue_many(6)
    await hands.queue(max_slots=2)
    first = await hands.claim(5)
    assert len(first) == 2
    assert await hands.claim(5) == []
    await hands.settle(transitions.succeed(first[0].id, 1, None, solo=True))
    assert len(await hands.claim(5)) == 1


async def test_claims_at_the_same_moment_never_exceed_the_cap_together(hands):
    await hands.enqueue_many(20)
    await hands.queue(max_slots=3)
    claims = await asyncio.gather(*(hands.claim(2, worker=f"w{n}") for n in range(8)))
    assert sum(map(len, claims)) == 3


async def test_several_claimers_get_different_jobs(database_url, hands):
    ids = await hands.enqueue_many(60)
    async with opened(database_url) as other:
        claims = await asyncio.gather(
            *(who.claim(5, worker=f"w{n}") for n in range(6) for who in (hands, other)),
        )
    claimed = [job.id for jobs in claims for job in jobs]
    assert sorted(claimed) == sorted(ids)
    assert max(map(len, claims)) <= 5


async def test_the_floor_never_goes_back_and_is_kept_per_band(hands):
    assert await hands.store.advance("q", {1: 5.0}) == {1: 5.0}
    assert await hands.store.advance("q", {1: 3.0, 2: 1.0}) == {1: 5.0, 2: 1.0}
    assert await hands.store.advance("other", {1: 1.0}) == {1: 1.0}


async def test_a_new_job_is_stamped_behind_the_floor_of_its_band(hands):
    await hands.store.advance("q", {1: 10.0})
    assert (await hands.job(await hands.enqueue(cost=2.0))).pass_ == 12.0
    assert (await hands.job(await hands.enqueue(cost=2.0, priority=2))).pass_ == 2.0


async def test_a_lane_queues_behind_its_own_tail_only(hands):
    await hands.lane("heavy", weight=4.0)
    await hands.enqueue_many(3, tenant="heavy", cost=2.0)
    assert (await hands.job(await hands.enqueue(tenant="heavy"))).pass_ == 3 * 0.5 + 0.25
    assert (await hands.job(await hands.enqueue(tenant="light"))).pass_ == 1.0


async def test_jobs_of_a_bulk_that_are_not_ready_cost_the_others_no_turn(hands):
    held = await hands.enqueue(key="held", queue="elsewhere")
    asked = [*(new_job(delay=3600.0) for _ in range(5)), *(new_job(key="held") for _ in range(5)), new_job()]
    made = await hands.store.enqueue(asked)
    assert [one.id for one in made[5:10]] == [held] * 5
    assert (await hands.job(asked[-1].id)).pass_ == 1.0


async def test_parallel_bulks_of_one_lane_get_one_share_together(hands):
    await asyncio.gather(*(hands.enqueue_many(5, tenant="bulk") for _ in range(8)))
    passes = sorted(job.pass_ for job in await hands.all_jobs())
    assert passes == [float(n) for n in range(1, 41)]


async def test_what_comes_back_keeps_its_place_but_never_below_the_floor(hands):
    job = await hands.start()
    await hands.apply(transitions.release(job.id, 1))
    assert (await hands.job(job.id)).pass_ == job.pass_
    [again] = await hands.claim()
    await hands.store.advance("q", {1: 50.0})
    await hands.apply(transitions.release(job.id, again.attempt))
    assert (await hands.job(job.id)).pass_ == 50.0


async def test_a_due_burst_is_ranked_within_its_lane(hands):
    burst = await hands.enqueue_many(4, tenant="burst", delay=3600.0)
    await hands.shift("run_at", -7200, *burst)
    bystander = await hands.enqueue(tenant="bystander")
    assert await hands.store.run(lambda tx: ledger.promote_due(tx, 100)) == 4
    assert sorted(job.pass_ for job in await hands.jobs(*burst)) == [1.0, 2.0, 3.0, 4.0]
    assert bystander in [job.id for job in await hands.claim(2)]


async def test_an_empty_queue_is_claimed_from_without_a_trace(hands):
    assert await hands.claim() == []
    assert await hands.count("count_delta") == 0


async def test_a_cap_holds_from_the_moment_it_is_set(database_url):
    """Whatever a store remembers about queues, a claim after the cap's commit obeys it."""
    app = App(database_url)
    app.operation("work", queue="q")(_do_nothing)
    async with app:
        store = app.services.store
        await app.enqueue_many([{"operation": "work"} for _ in range(4)])
        assert len(await store.claim(Claim("q", 1, "worker", 60.0))) == 1
        await app.queues.cap("q", 1)
        assert not await store.claim(Claim("q", 3, "worker", 60.0))
        await app.queues.cap("q", None)


async def _do_nothing(ctx): ...

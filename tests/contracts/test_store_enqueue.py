"""Putting jobs in: rows and events together, keys while they are live, lanes and their gates."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from tests.contracts.stores import AN_HOUR, new_job
from towpath.core import transitions
from towpath.core.ids import uuid7
from towpath.core.lifecycle import State
from towpath.core.outcomes import Failure
from towpath.core.records import NewJob
from towpath.store import ledger

BROKEN = Failure("fatal", "Fatal", "broken")


async def test_a_job_and_its_first_event_come_together(hands):
    job_id = await hands.enqueue(payload_json='{"a":1}', tenant="alice", priority=2, cost=3.0, trace="00-ab", max_attempts=5)
    job = await hands.job(job_id)
    assert (job.state, job.ready, job.attempt, job.seq, job.root_id) == (State.QUEUED, True, 0, 1, job_id)
    assert (job.payload, job.tenant, job.lane, job.priority, job.cost) == ({"a": 1}, "alice", "alice", 2, 3.0)
    assert (job.trace, job.max_attempts) == ("00-ab", 5)
    assert await hands.names(job_id) == ["job.created"]
    await hands.assert_truthful(job_id)


async def test_many_jobs_go_in_together_and_answer_in_order(hands):
    asked = [new_job(tenant=f"t{n % 3}") for n in range(50)]
    made = await hands.store.enqueue(asked)
    assert [(one.id, one.created) for one in made] == [(job.id, True) for job in asked]
    assert await hands.count("job") == 50
    assert len(await hands.batched_events()) == 50


async def test_a_bulk_with_one_impossible_job_leaves_nothing(hands):
    with pytest.raises(Exception, match=r"(?i)constraint"):
        await hands.store.enqueue([new_job(), new_job(operation=None), new_job()])
    assert await hands.count("job") == 0
    assert len(await hands.batched_events()) == 0
    assert await hands.enqueue() is not None  # and the store goes on


async def test_payloads_come_back_as_they_went_in(hands):
    text = '{"nul":"a\\u0000b","emoji":"🎉","nested":[[1.5,null,true]]}'
    assert (await hands.job(await hands.enqueue(payload_json=text))).payload_json == text


async def test_a_key_answers_the_live_job_that_holds_it(hands):
    first = await hands.enqueue(key="k", payload_json="1")
    [second] = await hands.store.enqueue([new_job(key="k", payload_json="2")])
    assert (second.id, second.created) == (first, False)
    assert (await hands.job(first)).payload == 1
    assert await hands.names(first) == ["job.created"]


async def test_a_key_is_held_while_the_job_runs_and_waits_and_free_after_its_end(hands):
    first = await hands.start(key="k")
    assert await hands.enqueue(key="k") == first.id
    await hands.apply(transitions.defer(first.id, 1, "signal", wakes_seen=0, deadline=None, max_wait=60))
    assert await hands.enqueue(key="k") == first.id
    await hands.apply(transitions.succeed(first.id, 1, None))
    assert await hands.enqueue(key="k") != first.id


async def test_a_key_belongs_to_its_tenant_and_operation(hands):
    ids = {
        await hands.enqueue(key="k"),
        await hands.enqueue(key="k", tenant="other"),
        await hands.enqueue(key="k", operation="other"),
        await hands.enqueue(key="other"),
    }
    assert len(ids) == 4


async def test_one_bulk_with_a_key_twice_makes_one_job(hands):
    held = await hands.enqueue(key="held")
    asked = [new_job(key="k"), new_job(key="held"), new_job(), new_job(key="k")]
    made = await hands.store.enqueue(asked)
    assert [one.created for one in made] == [True, False, True, False]
    assert [one.id for one in made] == [asked[0].id, held, asked[2].id, asked[0].id]


async def test_many_callers_with_one_key_get_one_job(hands):
    made = await asyncio.gather(*(hands.store.enqueue([new_job(key="k")]) for _ in range(20)))
    assert len({one.id for [one] in made}) == 1
    assert sum(one.created for [one] in made) == 1
    assert await hands.count("job") == 1


async def test_the_same_insert_sent_again_after_an_unknown_commit_changes_nothing(hands):
    job = new_job()
    await hands.store.enqueue([job])
    [again] = await hands.store.enqueue([job])
    assert again.id == job.id
    assert len(await hands.batched_events()) == 1


async def test_a_requeued_job_whose_key_is_taken_meanwhile_is_refused_and_leaves_no_trace(hands):
    first = await hands.start(key="k")
    await hands.apply(transitions.fail(first.id, 1, BROKEN))
    second = await hands.enqueue(key="k")
    verdict = await hands.apply(transitions.requeue(first.id))
    assert verdict != [None]
    assert second in str(verdict)
    assert (await hands.job(first.id)).state is State.FAILED
    await hands.assert_truthful()


async def test_of_two_jobs_with_one_key_that_are_requeued_together_one_comes_back(hands):
    first, second = await failed_with_key(hands), await failed_with_key(hands)
    verdicts = await hands.apply(transitions.requeue(first), transitions.requeue(second))
    assert verdicts == [None, f"its key 'k' is held by job {first}, which is still live"]


async def failed_with_key(hands) -> str:
    job = await hands.start(key="k")
    assert await hands.apply(transitions.fail(job.id, 1, BROKEN)) == [None]
    return job.id


async def test_a_refused_requeue_takes_nobodys_key(hands):
    parent = await hands.start(key="k")
    child = NewJob(uuid7(), "op", "q", "null", parent_id=parent.id, root_id=parent.id, child_group="g")
    await hands.sql(f"UPDATE {hands.table('job')} SET children_total = 1 WHERE id = '{parent.id}' RETURNING 1 AS done")
    await hands.enqueue(child)
    await hands.apply(transitions.cancel(parent.id))
    await hands.enqueue(key="k")
    [refused] = await hands.apply(transitions.requeue(child.id))
    assert refused is not None
    assert (await hands.job(parent.id)).key == "k"


@pytest.mark.parametrize("way", ["run_at", "delay"])
async def test_a_scheduled_job_is_not_ready_until_its_time_has_come(hands, way):
    moment = {"run_at": datetime.now(UTC) + AN_HOUR, "delay": 3600.0}
    job_id = await hands.enqueue(**{way: moment[way]})
    job = await hands.job(job_id)
    assert (job.state, job.ready, job.reason) == (State.QUEUED, False, "scheduled")
    assert await hands.claim() == []
    assert await hands.store.run(lambda tx: ledger.promote_due(tx, 10)) == 0
    await hands.shift("run_at", -7200, job_id)
    assert await hands.store.run(lambda tx: ledger.promote_due(tx, 10)) == 1
    [claimed] = await hands.claim()
    assert claimed.id == job_id
    assert (await hands.job(job_id)).run_at is None


async def test_a_start_in_the_past_is_now(hands):
    job = await hands.job(await hands.enqueue(run_at=datetime.now(UTC) - timedelta(days=1)))
    assert (job.ready, job.run_at) == (True, None)


async def test_a_capped_lane_lets_only_as_many_through_as_it_has_slots(hands):
    await hands.lane("alice", max_slots=2)
    ids = await hands.enqueue_many(5, tenant="alice")
    await hands.enqueue(tenant="bob")
    jobs = await hands.jobs(*ids)
    assert sum(job.ready for job in jobs) == 2
    assert {job.reason for job in jobs if not job.ready} == {"capped"}
    assert len(await hands.claim()) == 3


async def test_the_end_of_a_capped_job_lets_the_next_one_through(hands):
    await hands.lane("alice", max_slots=1)
    ids = await hands.enqueue_many(3, tenant="alice")
    for expected in ids:
        [claimed] = await hands.claim()
        assert claimed.id == expected
        assert await hands.claim() == []
        assert await hands.settle(transitions.succeed(claimed.id, claimed.attempt, None, solo=True)) == [None]
    await hands.assert_truthful()


async def test_single_enqueues_into_a_capped_lane_fill_it_and_no_more(hands):
    await hands.lane("alice", max_slots=2)
    await asyncio.gather(*(hands.enqueue(tenant="alice") for _ in range(6)))
    assert await hands.count("job", "ready") == 2
    assert await hands.count("job", "parked") == 4


async def test_a_lane_that_caps_open_roots_lets_children_of_begun_ones_pass(hands):
    await hands.lane("alice", max_roots=1)
    first, second = await hands.enqueue_many(2, tenant="alice")
    [root] = await hands.claim()
    assert root.id == first
    child = NewJob(uuid7(), "op", "q", "null", "alice", "alice", parent_id=first, root_id=first, child_group="g")
    await hands.enqueue(child)
    assert [job.id for job in await hands.claim()] == [child.id]
    assert not (await hands.job(second)).ready


async def test_raising_a_cap_lets_the_parked_ones_out_and_lifting_it_all_of_them(hands):
    await hands.lane("alice", max_slots=0)
    await hands.enqueue_many(4, tenant="alice")
    assert await hands.claim() == []
    await hands.lane("alice", max_slots=1)
    assert len(await hands.claim()) == 1
    await hands.lane("alice")
    assert len(await hands.claim()) == 3


async def test_a_cap_put_on_a_lane_holds_back_what_was_ready_before(hands):
    await hands.enqueue_many(4, tenant="alice")
    await hands.lane("alice", max_slots=1)
    assert len(await hands.claim()) == 1
    assert await hands.count("job", "parked") == 3

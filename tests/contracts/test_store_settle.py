"""Settling: the fence holds, the short way and the general way end the same, and neighbours do not hurt each other."""

import asyncio
import dataclasses

import pytest

from tests.contracts.stores import Hands, new_job
from towpath.core import transitions
from towpath.core.ids import uuid7
from towpath.core.lifecycle import State
from towpath.core.outcomes import Failure
from towpath.core.records import NewJob

BROKEN = Failure("fatal", "Fatal", "broken")
_DIFFER_BETWEEN_JOBS = {"id", "root_id", "pass_", "created_at", "started_at", "finished_at"}


async def row_of(hands: Hands, job_id: str) -> dict:
    row = dataclasses.asdict(await hands.job(job_id))
    assert row["finished_at"] >= row["started_at"] >= row["created_at"]
    return {name: value for name, value in row.items() if name not in _DIFFER_BETWEEN_JOBS}


async def story_of(hands: Hands, job_id: str) -> list[tuple]:
    return [(e.seq, e.attempt, e.name, e.level, e.message, e.fields) for e in await hands.events(job_id)]


async def forget_counts(hands: Hands) -> None:
    await hands.sql(f"DELETE FROM {hands.table('count_delta')} RETURNING 1 AS done")


async def counts(hands: Hands) -> list[dict]:
    rows = await hands.sql(
        f"SELECT queue, operation, sum(succeeded) AS succeeded, sum(running) AS running, sum(queued) AS queued, "
        f"sum(started) AS started FROM {hands.table('count_delta')} GROUP BY queue, operation"
    )
    return [dict(row) for row in rows]


async def one_life(hands: Hands, *, solo: bool, failed_before: bool) -> str:
    job = await hands.start(tenant="alice", payload_json="1")
    if failed_before:
        await hands.apply(transitions.retry(job.id, 1, BROKEN, 0))
        [job] = await hands.claim()
    assert await hands.settle(transitions.succeed(job.id, job.attempt, '{"r":1}', solo=solo)) == [None]
    return job.id


@pytest.mark.parametrize("failed_before", [False, True])
async def test_a_plain_success_ends_the_same_by_the_short_way_and_by_the_general_one(hands, failed_before):
    lives = []
    for solo in (True, False):
        await forget_counts(hands)
        job_id = await one_life(hands, solo=solo, failed_before=failed_before)
        lives.append((await row_of(hands, job_id), await story_of(hands, job_id), await counts(hands)))
    assert lives[0] == lives[1]
    await hands.assert_truthful()


@pytest.mark.parametrize("solo", [True, False])
async def test_a_superseded_attempt_is_refused_and_writes_nothing(hands, solo):
    job = await hands.start()
    await hands.apply(transitions.release(job.id, 1))
    [again] = await hands.claim(worker="other")
    before, events = await hands.job(job.id), len(await hands.batched_events())
    [verdict] = await hands.settle(transitions.succeed(job.id, 1, '"late"', solo=solo))
    assert verdict == "attempt 1 was superseded by attempt 2"
    assert await hands.job(job.id) == before
    assert len(await hands.batched_events()) == events
    assert await hands.settle(transitions.succeed(job.id, again.attempt, '"good"', solo=solo)) == [None]
    assert (await hands.job(job.id)).result == "good"


@pytest.mark.parametrize("solo", [True, False])
async def test_a_cancelled_job_cannot_succeed_any_more(hands, solo):
    job = await hands.start()
    await hands.apply(transitions.cancel(job.id))
    [verdict] = await hands.settle(transitions.succeed(job.id, 1, None, solo=solo))
    assert verdict is not None
    assert "cancelled" in verdict
    row = await hands.job(job.id)
    assert (row.state, row.leased, row.worker_id) == (State.CANCELLED, True, "w")


@pytest.mark.parametrize("solo", [True, False])
async def test_the_same_settle_twice_counts_once(hands, solo):
    job = await hands.start()
    done = transitions.succeed(job.id, 1, None, solo=solo)
    assert await hands.settle(done) == [None]
    [second] = await hands.settle(transitions.succeed(job.id, 1, None, solo=solo))
    assert second is not None
    assert await hands.names(job.id) == ["job.created", "job.started", "job.succeeded"]


async def test_the_short_way_is_not_taken_where_others_are_concerned(hands):
    parent = await hands.start()
    children = [
        NewJob(uuid7(), "op", "q", "null", parent_id=parent.id, root_id=parent.id, child_group="g") for _ in range(2)
    ]
    await hands.sql(f"UPDATE {hands.table('job')} SET children_total = 2 WHERE id = '{parent.id}' RETURNING 1 AS done")
    await hands.enqueue(*children)
    first, second = await hands.claim()
    # Each of them claims to be alone; the guard in the statement knows better.
    assert await hands.settle(transitions.succeed(parent.id, 1, '"r"', solo=True)) == [None]
    assert (await hands.job(parent.id)).state is State.WAITING
    assert await hands.settle(*(transitions.succeed(c.id, 1, None, solo=True) for c in (first, second))) == [None, None]
    assert (await hands.job(parent.id)).state is State.SUCCEEDED


async def test_a_batch_settles_each_job_on_its_own(hands):
    jobs = [await hands.start() for _ in range(6)]
    await hands.apply(transitions.cancel(jobs[2].id))
    verdicts = await hands.settle(
        transitions.succeed(jobs[0].id, 1, "0", solo=True),
        transitions.succeed(jobs[1].id, 7, "1", solo=True),
        transitions.succeed(jobs[2].id, 1, "2", solo=True),
        transitions.fail(jobs[3].id, 1, BROKEN),
        transitions.succeed(jobs[4].id, 1, "4"),
        transitions.retry(jobs[5].id, 1, BROKEN, 60),
    )
    assert [verdict is None for verdict in verdicts] == [True, False, False, True, True, True]
    states = [(await hands.job(job.id)).state.value for job in jobs]
    assert states == ["succeeded", "running", "cancelled", "failed", "succeeded", "queued"]
    await hands.assert_truthful()


async def test_units_that_run_together_fail_alone(hands):
    job = await hands.start()

    async def explode(tx):
        await tx.execute("add_signal", id=uuid7(), job_id=job.id, name="half", payload="null", now=tx.now)
        raise RuntimeError("boom")

    outcomes = await asyncio.gather(
        *(hands.store.run(explode) if n % 2 else hands.store.enqueue([new_job()]) for n in range(10)),
        return_exceptions=True,
    )
    assert [isinstance(outcome, RuntimeError) for outcome in outcomes] == [bool(n % 2) for n in range(10)]
    assert await hands.count("signal") == 0
    assert await hands.count("job") == 6


async def test_follow_ups_exist_if_and_only_if_the_settle_happened(hands):
    job = await hands.start()
    late, made = new_job(operation="next"), new_job(operation="next")
    [refused] = await hands.settle(transitions.succeed(job.id, 9, None, follow_ups=[late]))
    assert refused is not None
    assert await hands.settle(transitions.succeed(job.id, 1, None, follow_ups=[made])) == [None]
    assert await hands.jobs(late.id) == []
    assert (await hands.job(made.id)).ready


async def test_an_error_is_stored_whatever_its_words_contain(hands):
    job = await hands.start()
    awkward = Failure("fatal", "Fatal", "page \x00 \ud800 17", "mend \x00", {"path": "\x00"})
    assert await hands.settle(transitions.fail(job.id, 1, awkward)) == [None]
    row = await hands.job(job.id)
    assert (row.state, row.error["kind"]) == (State.FAILED, "fatal")
    assert "page" in row.error_group


async def test_endings_of_siblings_at_the_same_moment_are_each_counted_once(hands):
    parent = await hands.start()
    size = 12
    await hands.sql(f"UPDATE {hands.table('job')} SET children_total = {size} WHERE id = '{parent.id}' RETURNING 1 AS done")
    kids = [NewJob(uuid7(), "op", "q", "null", parent_id=parent.id, root_id=parent.id, child_group="g") for _ in range(size)]
    await hands.enqueue(*kids)
    claimed = await hands.claim()
    await hands.settle(transitions.close_with_children(parent.id, 1, None, 3600))
    endings = [
        transitions.fail(job.id, 1, BROKEN) if n % 4 == 0 else transitions.succeed(job.id, 1, None)
        for n, job in enumerate(claimed)
    ]
    await asyncio.gather(*(hands.settle(one) for one in endings))
    row = await hands.job(parent.id)
    assert (row.state, row.children_ok, row.children_bad) == (State.PARTIAL, 9, 3)
    assert (await hands.names(parent.id)).count("job.partial") == 1


async def test_cancelling_a_family_while_it_settles_leaves_no_job_half_way(hands):
    for _ in range(5):
        parent = await hands.start()
        await hands.sql(f"UPDATE {hands.table('job')} SET children_total = 4 WHERE id = '{parent.id}' RETURNING 1 AS done")
        kids = [
            NewJob(uuid7(), "op", "q", "null", parent_id=parent.id, root_id=parent.id, child_group="g") for _ in range(4)
        ]
        await hands.enqueue(*kids)
        claimed = await hands.claim()
        await hands.settle(transitions.close_with_children(parent.id, 1, None, 3600))
        await asyncio.gather(
            *(hands.settle(transitions.succeed(job.id, job.attempt, None)) for job in claimed),
            hands.apply(transitions.cancel(parent.id)),
        )
        row, children = await hands.job(parent.id), await hands.jobs(*(job.id for job in kids))
        assert row.ended
        assert all(child.ended for child in children)
        ok = sum(child.state is State.SUCCEEDED for child in children)
        assert (row.children_ok, row.children_bad) == (ok, 4 - ok)


async def test_two_words_about_one_job_in_a_batch_count_as_one_and_the_other_hears_so(hands):
    stale, again = await hands.start(), None
    await hands.apply(transitions.release(stale.id, 1))
    [again] = await hands.claim()
    verdicts = await hands.settle(
        transitions.succeed(stale.id, 1, '"stale"', solo=True),
        transitions.succeed(again.id, 2, '"good"', solo=True),
        transitions.succeed(again.id, 2, '"twice"', solo=True),
    )
    assert [verdict is None for verdict in verdicts] == [False, True, False]
    assert (await hands.job(again.id)).result == "good"
    assert (await hands.names(again.id)).count("job.succeeded") == 1

"""A turn settles and claims in one commit, and leaves exactly what the two would have left."""

import dataclasses

from tests.contracts.stores import Hands, new_job
from towpath.core import transitions
from towpath.core.errors import StoreUnavailable
from towpath.core.lifecycle import State
from towpath.core.outcomes import Failure
from towpath.store.contract import UNDECIDED, Claim

_TIMES = {"created_at", "started_at", "finished_at", "lease_until"}


async def turn(hands: Hands, *settles: transitions.Transition, limit: int = 10):
    verdicts, batch = await hands.store.turn(settles, Claim("q", limit, "w", 30.0))
    return verdicts, batch.jobs


def success(job, result: str | None = None, *, attempt: int | None = None):
    return transitions.succeed(job.id, attempt or job.attempt, result, solo=True)


def plain(job) -> dict:
    row = {name: value for name, value in dataclasses.asdict(job).items() if name not in _TIMES | {"id", "root_id", "pass_"}}
    return row | {"leased_until_when": job.lease_until is not None, "ended": job.finished_at is not None}


async def test_a_turn_ends_and_begins_jobs_as_the_two_calls_do(hands):
    rows = []
    for together in (True, False):
        first = await hands.start(payload_json="1")
        following = await hands.enqueue(new_job(payload_json="2"))
        if together:
            verdicts, [claimed] = await turn(hands, success(first, '{"r":1}'))
        else:
            verdicts = await hands.settle(success(first, '{"r":1}'))
            [claimed] = await hands.claim()
        assert (verdicts, claimed.id, claimed.attempt) == ([None], following, 1)
        jobs = [await hands.job(first.id), await hands.job(following)]
        stories = [await hands.names(job.id) for job in jobs]
        rows.append(([plain(job) for job in jobs], stories))
        await hands.settle(success(claimed))
    assert rows[0] == rows[1]
    await hands.assert_truthful()


async def test_a_turn_counts_like_the_two_calls(hands):
    first = await hands.start()
    await hands.enqueue()
    await turn(hands, success(first))
    rows = await hands.sql(
        f"SELECT sum(queued) AS queued, sum(running) AS running, sum(started) AS started, sum(succeeded) AS succeeded "
        f"FROM {hands.table('count_delta')}"
    )
    assert dict(rows[0]) == {"queued": 0, "running": 1, "started": 2, "succeeded": 1}


async def test_the_fence_holds_in_a_turn_and_the_claim_goes_on(hands):
    stale, good = await hands.start(), await hands.start()
    await hands.run_out(stale.id)
    await hands.apply(transitions.rescue(stale.id, 1))
    verdicts, claimed = await turn(hands, success(stale, attempt=1), success(good))
    assert verdicts[0] is not None
    assert verdicts[1] is None
    assert [(job.id, job.attempt) for job in claimed] == [(stale.id, 2)]
    assert (await hands.job(good.id)).state is State.SUCCEEDED
    await hands.assert_truthful()


async def test_verdicts_come_in_the_order_of_the_asking(hands):
    jobs = [await hands.start() for _ in range(4)]
    asked = [success(jobs[2]), success(jobs[0], attempt=7), success(jobs[3]), success(jobs[1], attempt=7)]
    verdicts, _ = await turn(hands, *asked)
    assert [verdict is None for verdict in verdicts] == [True, False, True, False]


async def test_what_a_turn_leaves_alone_is_open_until_a_settle_decides(hands):
    late, capped = await hands.start(), await hands.start(tenant="alice")
    await hands.lane("alice", max_slots=5)
    asked = [success(late, attempt=7), success(capped)]
    verdicts, _ = await turn(hands, *asked)
    assert verdicts == [UNDECIDED, UNDECIDED]
    refused, done = await hands.settle(*asked)
    assert "superseded" in refused
    assert done is None
    assert (await hands.job(capped.id)).state is State.SUCCEEDED


async def test_nothing_that_comes_after_the_settles_keeps_them_secret(hands, monkeypatch):
    """A queue with a cap is claimed from in a commit of its own."""
    await hands.queue(max_slots=5)
    first = await hands.start()

    async def refused(*_):
        raise StoreUnavailable("not now")

    monkeypatch.setattr(hands.store, "claim", refused)
    assert await turn(hands, success(first)) == ([None], [])
    assert (await hands.job(first.id)).state is State.SUCCEEDED


async def test_a_turn_with_a_failure_settles_that_too(hands):
    broken, good = await hands.start(), await hands.start()
    following = await hands.enqueue()
    failure = Failure("fatal", "Fatal", "broken")
    verdicts, claimed = await turn(hands, transitions.fail(broken.id, 1, failure), success(good))
    assert verdicts == [None, None]
    assert [job.id for job in claimed] == [following]
    assert [(await hands.job(job.id)).state for job in (broken, good)] == [State.FAILED, State.SUCCEEDED]


async def test_a_turn_takes_nothing_from_a_paused_queue_but_settles(hands):
    first = await hands.start()
    await hands.enqueue()
    await hands.queue(paused=True)
    assert await turn(hands, success(first)) == ([None], [])
    assert (await hands.job(first.id)).state is State.SUCCEEDED


async def test_a_turn_keeps_a_queues_cap(hands):
    await hands.queue(max_slots=1)
    first = await hands.start()
    await hands.enqueue_many(3)
    verdicts, claimed = await turn(hands, success(first))
    assert (verdicts, len(claimed)) == ([None], 1)
    assert (await turn(hands))[1] == []


async def test_a_turn_never_takes_more_than_there_is_room_for(hands):
    first = await hands.start()
    await hands.enqueue_many(5)
    _, claimed = await turn(hands, success(first), limit=2)
    assert len(claimed) == 2

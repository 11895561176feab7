"""What happened to many jobs in one commit is one batch for streams, and their own rows tell of it. Neither histories nor
streams show the difference."""

import pytest

from tests.contracts.stores import Hands, new_job, opened
from tests.contracts.streams import stream_start
from tests.contracts.test_store_deltas import delete
from tests.contracts.test_store_stream import assert_in_order, drain, keys
from towpath.core import transitions
from towpath.core.outcomes import Failure
from towpath.engine.asking.deltas import DELETED, Deltas
from towpath.store import ledger

A_LIFE = [("job.created", 1, 0), ("job.started", 2, 1), ("job.succeeded", 3, 1)]


async def live(hands: Hands, count: int = 3, **fields) -> list[str]:
    """Jobs that have been created, started and ended with nothing else to tell."""
    ids = await hands.enqueue_many(count, **fields)
    claimed = await hands.claim(count, queue=fields.get("queue", "q"))
    assert await hands.settle(*[transitions.succeed(c.id, c.attempt, None, solo=True) for c in claimed]) == [None] * count
    return ids


async def history(hands: Hands, job_id: str) -> list[tuple[str, int, int]]:
    return [(event.name, event.seq, event.attempt) for event in await hands.events(job_id)]


async def test_a_plain_life_needs_no_event_of_its_own_and_has_a_whole_history(hands):
    ids = await live(hands, 40)
    assert (await hands.count("event"), await hands.count("event_batch")) == (0, 3)
    for job_id in ids:
        assert await history(hands, job_id) == A_LIFE
        job, events = await hands.job(job_id), await hands.events(job_id)
        assert [event.ts for event in events] == [job.created_at, job.started_at, job.finished_at]
        assert {(event.level, event.message, event.fields) for event in events} == {("info", None, None)}
    await hands.assert_truthful()


async def test_jobs_of_several_queues_are_in_one_batch(hands):
    jobs = [new_job(queue=queue, cost=cost) for queue in ("a", "b") for cost in (1.0, 2.0)]
    await hands.store.enqueue(jobs)
    assert await hands.count("event_batch") == 1
    assert sorted(await hands.batched_events()) == sorted((job.id, 1) for job in jobs)


async def test_a_job_that_comes_back_keeps_its_first_life(hands):
    start = await stream_start(hands.store)
    ids = await hands.enqueue_many(3)
    [first, *_] = await hands.claim()
    assert await hands.apply(transitions.fail(first.id, 1, Failure("fatal", "Broken", "broken"))) == [None]
    before, cursor = await drain(hands, start)
    old = await hands.events(first.id)
    assert [event.name for event in old] == ["job.created", "job.started", "job.failed"]
    for number in (1, 2):
        assert await hands.apply(transitions.requeue(first.id)) == [None]
        assert (await hands.events(first.id))[:3] == old
        [again] = await hands.claim()
        assert again.attempt == 1 + number
        assert await hands.apply(transitions.fail(first.id, again.attempt, Failure("fatal", "Broken", "broken"))) == [None]
    after, _ = await drain(hands, cursor)
    assert [event.job_id for event in after] == [first.id] * 6
    whole, _ = await drain(hands, start)
    assert sorted(keys(whole)) == sorted(keys([*before, *after]))
    assert len(whole) == len(ids) * 2 + 1 + 6
    assert_in_order(whole)
    await hands.assert_truthful()


async def test_a_job_that_comes_back_without_having_started_has_no_start_to_keep(hands):
    job_id = await hands.enqueue()
    assert await hands.apply(transitions.cancel(job_id), transitions.requeue(job_id)) == [None, None]
    assert await hands.names(job_id) == ["job.created", "job.cancelled", "job.requeued"]
    await hands.assert_truthful()


async def test_a_start_that_is_not_the_first_has_an_event_of_its_own(hands):
    job = await hands.start()
    assert await hands.apply(transitions.release(job.id, 1)) == [None]
    before = await hands.count("event")
    [again] = await hands.claim()
    assert (again.id, again.attempt, await hands.count("event")) == (job.id, 2, before + 1)
    assert (await hands.names(job.id)).count("job.started") == 2
    await hands.assert_truthful()


async def test_successes_of_other_attempts_are_in_histories_like_the_plain_ones(hands):
    job = await hands.start()
    assert await hands.apply(transitions.release(job.id, 1)) == [None]
    await hands.enqueue_many(2)
    claimed = await hands.claim()
    assert await hands.settle(*[transitions.succeed(c.id, c.attempt, None, solo=True) for c in claimed]) == [None] * 3
    for one in claimed:
        assert (await hands.events(one.id))[-1].name == "job.succeeded"
    await hands.assert_truthful()


async def test_a_job_that_is_gone_has_left_the_stream_and_its_neighbours_have_not(hands):
    start = await stream_start(hands.store)
    gone, *rest = await live(hands)
    await delete(hands, gone)
    for limit in (1, 2, 5000):
        events, _ = await drain(hands, start, limit)
        assert [event.job_id for event in events if event.name == DELETED] == [gone]
        there = [event for event in events if event.name != DELETED]
        assert sorted(keys(there)) == sorted((job_id, seq) for job_id in rest for seq in (1, 2, 3))


class TestOnPostgres:
    @pytest.fixture
    async def hands(self, postgres_url):
        async with opened(postgres_url) as hands:
            yield hands

    async def test_what_an_earlier_transaction_did_later_waits_for_what_came_before_it(self, hands):
        """It has the smaller number: a delta that ends between the two would tell of the end before the beginning."""
        deltas = await Deltas.of(hands.store)
        place = await deltas.now()
        filler = await hands.enqueue()
        async with hands.store.transaction() as early:
            await early.fetch_sql("SELECT pg_current_xact_id()")
            job_id = await hands.enqueue()
            [*_, claimed] = await hands.claim()
            assert claimed.id == job_id
            await ledger.apply(early, [transitions.cancel(job_id)])
        seen = []
        for _ in range(20):
            page = await deltas.page(place, limit=1)
            seen += page.events
            place = page.end
            if not page.more:
                break
        assert_in_order(seen)
        assert {event.job_id for event in seen} == {filler, job_id}
        assert [event.name for event in seen if event.job_id == job_id][:2] == ["job.created", "job.started"]

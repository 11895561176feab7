"""The stream of all events: nothing lost, nothing twice, each job's events in order, resumable anywhere."""

import asyncio
import contextlib

import pytest

from tests.contracts.stores import PATIENCE, Hands, new_job, opened
from tests.contracts.streams import stream_since, stream_start
from towpath.core import transitions
from towpath.core.records import Event
from towpath.store import ledger


async def drain(hands: Hands, cursor: str, limit: int = 5000) -> tuple[list[Event], str]:
    """Everything there is right now."""
    found: list[Event] = []
    while True:
        events, cursor, more = await stream_since(hands.store, cursor, limit)
        found += events
        if not more:
            return found, cursor


def keys(events: list[Event]) -> list[tuple[str, int]]:
    return [(event.job_id, event.seq) for event in events]


def assert_in_order(events: list[Event]) -> None:
    last: dict[str, int] = {}
    for event in events:
        assert event.seq > last.get(event.job_id, 0), f"{event.job_id}: {event.seq} after {last[event.job_id]}"
        last[event.job_id] = event.seq


async def everything(hands: Hands) -> set[tuple[str, int]]:
    return set(await hands.batched_events())


async def test_a_stream_begins_with_what_comes_after_it(hands):
    await hands.enqueue()
    cursor = await stream_start(hands.store)
    assert (await drain(hands, cursor))[0] == []
    job_id = await hands.enqueue()
    [event], cursor = await drain(hands, cursor)
    assert (event.job_id, event.name, event.seq) == (job_id, "job.created", 1)
    assert (await drain(hands, cursor))[0] == []


async def test_an_event_carries_everything_that_was_written(hands):
    cursor = await stream_start(hands.store)
    job = await hands.start()
    await hands.apply(transitions.release(job.id, 1, "no_handler", 5))
    released = (await drain(hands, cursor))[0][-1]
    assert (released.name, released.attempt, released.level, released.fields) == (
        "job.released", 1, "info", {"reason": "no_handler"},
    )  # fmt: skip
    assert released.ts is not None


async def test_a_page_of_a_long_backlog_looks_at_no_more_than_it_gives(hands):
    """Not at everything up to now again and again: who is far behind would never catch up."""
    cursor = await stream_start(hands.store)
    for _ in range(8):
        await hands.enqueue_many(25)
    events, cursor, more = await stream_since(hands.store, cursor, 50)
    assert (len(events), more) == (50, True)
    assert cursor.split(".")[2] != (await stream_start(hands.store)).split(".")[2]  # a slice of it, not all of it
    rest, _ = await drain(hands, cursor, 50)
    assert len({*keys(events), *keys(rest)}) == 200


async def test_a_bulk_that_is_larger_than_a_batch_has_several(hands):
    cursor = await stream_start(hands.store)
    ids = await hands.enqueue_many(2500)
    events, _ = await drain(hands, cursor, 700)
    assert sorted(event.job_id for event in events) == sorted(ids)
    if hands.store.dialect == "sqlite":
        assert await hands.count("event_batch") == 3


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
async def test_pages_of_any_size_give_every_event_once(hands, limit):
    cursor = await stream_start(hands.store)
    await hands.enqueue_many(3)
    await hands.claim()
    events, after = await drain(hands, cursor, limit)
    assert len(events) == 6
    assert set(keys(events)) == await everything(hands)
    assert_in_order(events)
    assert (await drain(hands, after, limit))[0] == []


async def test_the_token_of_every_event_resumes_right_after_it(hands):
    cursor = await stream_start(hands.store)
    await hands.enqueue_many(4)
    await hands.claim(2)
    events, _ = await drain(hands, cursor)
    await hands.enqueue()  # the delta that the tokens point into does not grow with what came later
    everything_now = keys(events) + keys((await drain(hands, events[-1].token))[0])
    for number, event in enumerate(events, 1):
        resumed, _ = await drain(hands, event.token)
        assert keys(resumed) == everything_now[number:]


async def test_a_token_outlives_the_process_that_read_it(database_url, hands):
    cursor = await stream_start(hands.store)
    await hands.enqueue_many(3)
    events, _ = await drain(hands, cursor)
    async with opened(database_url) as other:
        assert keys((await drain(other, events[0].token))[0]) == keys(events[1:])


async def test_readers_that_page_while_others_write_miss_nothing_and_see_nothing_twice(hands):
    cursor = start = await stream_start(hands.store)
    seen: list[Event] = []
    writing = True

    async def write(number: int) -> None:
        for _ in range(6):
            await hands.enqueue(tenant=f"t{number}")
            for job in await hands.claim(2, worker=f"w{number}"):
                await hands.settle(transitions.succeed(job.id, job.attempt, None, solo=number % 2 == 0))

    async def read() -> None:
        nonlocal cursor
        while writing:
            events, cursor, _ = await stream_since(hands.store, cursor, 7)
            seen.extend(events)

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        reader = group.create_task(read())
        await asyncio.gather(*(write(n) for n in range(6)))
        writing = False
        await reader
    rest, _ = await drain(hands, cursor)
    seen += rest
    assert len(seen) == len(set(keys(seen)))
    assert set(keys(seen)) == await everything(hands)
    assert_in_order(seen)
    assert set(keys((await drain(hands, start))[0])) == set(keys(seen))


async def test_what_is_rolled_back_never_appears(hands):
    cursor = await stream_start(hands.store)
    with contextlib.suppress(ZeroDivisionError):
        async with hands.store.transaction() as tx:
            await tx.insert_jobs([new_job()])
            raise ZeroDivisionError
    job_id = await hands.enqueue()
    events, cursor = await drain(hands, cursor)
    assert keys(events) == [(job_id, 1)]
    assert (await drain(hands, cursor))[0] == []


async def test_followers_hear_of_every_commit_of_this_process(hands):
    heard = asyncio.Event()

    async def listen():
        async for _ in hands.store.follow():
            heard.set()

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0)
    await hands.enqueue()
    async with asyncio.timeout(PATIENCE):
        await heard.wait()
    listening.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await listening


class TestOnPostgres:
    """Where a later transaction can commit before an earlier one."""

    @pytest.fixture
    async def hands(self, postgres_url):
        async with opened(postgres_url) as own:
            yield own

    async def test_a_transaction_that_commits_late_is_not_missed(self, hands):
        cursor = await stream_start(hands.store)
        late = new_job()
        async with hands.store.transaction() as tx:
            await tx.insert_jobs([late])  # has its transaction id now, the smaller one
            early = await hands.enqueue()
            events, cursor = await drain(hands, cursor)
            assert keys(events) == [(early, 1)]
            assert (await drain(hands, cursor))[0] == []
        events, cursor = await drain(hands, cursor)
        assert keys(events) == [(late.id, 1)]
        assert (await drain(hands, cursor))[0] == []

    async def test_several_late_ones_come_whenever_they_commit(self, hands):
        cursor = await stream_start(hands.store)
        jobs, seen = [new_job() for _ in range(3)], []
        async with contextlib.AsyncExitStack() as outer:
            tx = await outer.enter_async_context(hands.store.transaction())
            await tx.insert_jobs([jobs[0]])
            async with hands.store.transaction() as inner:
                await inner.insert_jobs([jobs[1]])
                await hands.enqueue(jobs[2])
                events, cursor = await drain(hands, cursor)
                seen += events
            events, cursor = await drain(hands, cursor)
            seen += events
        events, cursor = await drain(hands, cursor)
        assert keys(seen + events) == [(job.id, 1) for job in reversed(jobs)]

    async def test_a_stream_does_not_wait_for_a_transaction_that_stays_open(self, hands):
        async with hands.store.transaction() as tx:
            await tx.insert_jobs([new_job()])
            cursor = await stream_start(hands.store)
            for _ in range(3):
                job_id = await hands.enqueue()
                events, cursor = await drain(hands, cursor)
                assert keys(events) == [(job_id, 1)]

    @pytest.mark.parametrize("limit", [1, 2, 5000])
    async def test_an_older_transaction_that_touched_the_job_later_does_not_turn_its_order_around(self, hands, limit):
        job_id = await hands.enqueue()
        cursor = await stream_start(hands.store)
        async with hands.store.transaction() as tx:
            await tx.insert_jobs([new_job(queue="elsewhere")])
            [claimed] = await hands.claim()  # a younger transaction writes seq 2 first
            assert await ledger.apply(tx, [transitions.release(job_id, claimed.attempt)]) == [None]
        events, _ = await drain(hands, cursor, limit)
        assert [event.seq for event in events if event.job_id == job_id] == [2, 3]
        assert_in_order(events)

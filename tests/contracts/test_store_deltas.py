"""The stream in deltas: the same events as the plain stream, job by job, with places that outlive deletions."""

import asyncio
import contextlib
import random
from datetime import timedelta

import pytest

from tests.contracts.stores import Hands, new_job, opened
from towpath.core import transitions
from towpath.core.errors import StreamReset
from towpath.core.ids import uuid7
from towpath.core.records import JOB_FIELDS, Event
from towpath.engine.asking.deltas import DELETED, Deltas, Place
from towpath.engine.changing import deleting
from towpath.engine.tending import tombstones
from towpath.store import journal, ledger
from towpath.store.contract import Tx
from towpath.store.journal import Note

A_WEEK = timedelta(days=7)


@pytest.fixture
async def deltas(hands: Hands) -> Deltas:
    return await Deltas.of(hands.store)


async def read_on(
    deltas: Deltas, place: Place, *, until: Place | None = None, limit: int = 2000
) -> tuple[list[Event], Place]:
    """Everything from the place on, and the place after it."""
    found: list[Event] = []
    while True:
        page = await deltas.page(place, until=until, limit=limit)
        found += page.events
        place = page.end
        if not page.more:
            return found, place


def keys(events: list[Event]) -> list[tuple[str, int]]:
    return [(event.job_id, event.seq) for event in events]


def assert_in_order(events: list[Event]) -> None:
    last: dict[str, int] = {}
    for event in events:
        assert event.seq > last.get(event.job_id, 0), f"{event.job_id}: {event.seq} after {last[event.job_id]}"
        last[event.job_id] = event.seq


async def everything(hands: Hands) -> set[tuple[str, int]]:
    return set(await hands.batched_events())


async def delete(hands: Hands, *ids: str) -> None:
    async def unit(tx: Tx) -> None:
        await tx.jobs("lock_jobs", ids=sorted(ids))  # as whoever deletes must: a settle on its way comes first
        await deleting.delete_jobs(tx, list(ids))

    await hands.store.run(unit)


async def work_off(hands: Hands, count: int) -> list[str]:
    """Some jobs that were made, begun and ended, each in transactions of its own."""
    ids = []
    for _ in range(count):
        job = await hands.start()
        await hands.settle(transitions.succeed(job.id, job.attempt, None, solo=True))
        ids.append(job.id)
    return ids


async def test_a_place_is_behind_everything_so_far(hands, deltas):
    await hands.enqueue()
    place = await deltas.now()
    assert (await read_on(deltas, place))[0] == []
    job_id = await hands.enqueue()
    events, place = await read_on(deltas, place)
    assert [(event.job_id, event.name, event.seq) for event in events] == [(job_id, "job.created", 1)]
    assert (await read_on(deltas, place))[0] == []


async def test_the_events_of_one_job_stand_together(hands, deltas):
    place = await deltas.now()
    ids = await hands.enqueue_many(3)
    for job in await hands.claim():
        await hands.settle(transitions.succeed(job.id, job.attempt, None, solo=True))
    page = await deltas.page(place)
    assert keys(page.events) == [(job_id, seq) for job_id in sorted(ids) for seq in (1, 2, 3)]


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
async def test_pages_of_any_size_give_every_event_once(hands, deltas, limit):
    place = await deltas.now()
    await work_off(hands, 4)
    await hands.enqueue_many(9)
    events, after = await read_on(deltas, place, limit=limit)
    assert len(events) == 4 * 3 + 9
    assert set(keys(events)) == await everything(hands)
    assert_in_order(events)
    assert (await read_on(deltas, after, limit=limit))[0] == []


@pytest.mark.parametrize("limit", [2, 2000])
async def test_the_token_of_every_event_resumes_right_after_it_also_when_other_jobs_are_deleted(hands, deltas, limit):
    start = await deltas.now()
    ids = await work_off(hands, 3)
    await hands.enqueue_many(3)
    tokens, read, place, more = [], [], start, True
    while more:
        page = await deltas.page(place, limit=limit)
        tokens += [deltas.token(page.place_after(event)) for event in page.events]
        read += page.events
        place, more = page.end, page.more
    assert len(read) == 12
    await delete(hands, ids[0], ids[2])
    gone = {ids[0], ids[2]}
    for number, token in enumerate(tokens, 1):
        rest, _ = await read_on(deltas, await deltas.place(token, within=A_WEEK), limit=limit)
        expected = [key for key in keys(read[number:]) if key[0] not in gone]
        assert [key for key, event in zip(keys(rest), rest, strict=True) if event.name != DELETED] == expected
        assert {event.job_id for event in rest if event.name == DELETED} == gone


async def test_a_deleted_job_is_told_with_its_tenant_and_only_once(hands, deltas):
    before = await deltas.now()
    job_id = await hands.enqueue(tenant="anna")
    seen, place = await read_on(deltas, before)
    assert keys(seen) == [(job_id, 1)]
    await delete(hands, job_id)
    events, after = await read_on(deltas, place)
    assert [(event.job_id, event.name, event.message) for event in events] == [(job_id, DELETED, "anna")]
    assert (await read_on(deltas, after))[0] == []
    assert [event.name for event in (await read_on(deltas, before))[0]] == [DELETED]


async def test_deletions_are_forgotten_when_no_stream_can_ask_for_them_any_more(hands, deltas):
    place = await deltas.now()
    await delete(hands, await hands.enqueue())
    assert await tombstones.forget(hands.store) == 0
    assert len((await read_on(deltas, place))[0]) == 1
    assert await tombstones.forget(hands.store, timedelta(0)) == 1
    assert (await read_on(deltas, place))[0] == []


async def test_reading_ends_where_it_is_told_to(hands, deltas):
    start = await deltas.now()
    first = await hands.enqueue()
    middle = await deltas.now()
    second = await hands.enqueue()
    events, end = await read_on(deltas, start, until=middle)
    assert (keys(events), end) == ([(first, 1)], middle)
    assert keys((await read_on(deltas, end))[0]) == [(second, 1)]


async def test_a_token_outlives_the_process_that_made_it(database_url, hands, deltas):
    token = deltas.token(await deltas.now())
    job_id = await hands.enqueue()
    async with opened(database_url) as other:
        theirs = await Deltas.of(other.store)
        place = await theirs.place(token, within=A_WEEK)
        assert keys((await read_on(theirs, place))[0]) == [(job_id, 1)]


async def test_a_token_of_another_database_is_not_taken_for_one_of_this(hands, deltas, sqlite_url, tmp_path):
    async with opened(f"sqlite:///{tmp_path}/other.db") as other:
        theirs = await Deltas.of(other.store)
        token = theirs.token(await theirs.now())
    with pytest.raises(StreamReset) as refused:
        await deltas.place(token, within=A_WEEK)
    assert refused.value.reason == "unknown"


async def test_a_token_from_the_future_is_refused(hands, deltas):
    """As after a backup was restored: the stream has not come so far yet."""
    ahead = {"sqlite": "99999", "postgres": "99999999999:99999999999:"}[hands.store.dialect]
    with pytest.raises(StreamReset, match="does not know"):
        await deltas.place(deltas.token(Place(ahead, 1)), within=A_WEEK)


async def test_a_token_that_is_too_old_has_expired(hands, deltas):
    place = await deltas.now()
    assert await deltas.place(deltas.token(place), within=A_WEEK) == place
    with pytest.raises(StreamReset) as refused:
        await deltas.place(deltas.token(place), within=timedelta(0))
    assert refused.value.reason == "expired"


NONSENSE = [
    "", "0", "null", "{identity}", "{identity}.1.", "{identity}.1.0:0:", "{identity}.1.9:5:", "{identity}.1.5:9:7,6",
    "{identity}.1.5:9:9", "{identity}.1.5:9:3", "{identity}.1.1-", "{identity}.1.-1",
    "{identity}.1.1-1", "{identity}.1.9999999999999999999", "{identity}.1.1,2",
    "{identity}.1.9223372036854775808:9223372036854775809:", "{identity}.x.1", "{identity}.1.1~1~x~1",
    "{identity}.1.{cursor}~{cursor}~00000000-0000-0000-0000-000000000000~4294967296", "{identity}.1.{cursor}\n",
    "{identity}.1.{cursor}~", "'; DROP TABLE towpath_event; --", "{identity}.1." + "5:9:" + "6," * 9000 + "7", "\u0661" * 8,
]  # fmt: skip


async def test_nonsense_is_refused_before_the_database_sees_it(hands, deltas):
    place = await deltas.now()
    identity = deltas.token(place).split(".")[0]
    for text in NONSENSE:
        token = text.replace("{identity}", identity).replace("{cursor}", place.since)
        with pytest.raises(StreamReset) as refused:
            await deltas.place(token, within=timedelta(days=99999))
        assert refused.value.reason == "unknown", token[:80]


async def test_only_one_jobs_events_can_be_asked_for(hands, deltas):
    place = await deltas.now()
    ids = await work_off(hands, 3)
    page = await deltas.page(place, only=ids[1])
    assert keys(page.events) == [(ids[1], 1), (ids[1], 2), (ids[1], 3)]
    assert keys((await deltas.page(place, only=uuid7())).events) == []


async def test_fields_too_large_for_a_stream_are_replaced_by_their_size(hands, deltas):
    place = await deltas.now()
    job = await hands.start()
    notes = [
        Note(job.id, job.attempt, name="small", fields={"text": "ä" * 100}),
        Note(job.id, job.attempt, name="large", fields={"text": "ä" * 9000}),
    ]
    await hands.store.run(lambda tx: journal.record(tx, notes))
    small, large = (await read_on(deltas, place))[0][-2:]
    assert small.fields == {"text": "ä" * 100}
    assert large.fields == {"truncated": True, "bytes": 18_011}


async def test_the_rows_that_streams_look_up_are_the_jobs_without_payload_and_result(hands):
    job = await hands.start(payload_json='{"large": true}')
    await hands.settle(transitions.succeed(job.id, job.attempt, '"result"', solo=True))
    [seen] = await hands.store.read(lambda tx: tx.jobs("streamed_jobs", ids=[job.id, uuid7()]))
    whole = await hands.job(job.id)
    assert (seen.payload_json, seen.result_json) == ("null", None)
    for name in set(JOB_FIELDS) - {"payload_json", "result_json"}:
        assert getattr(seen, name) == getattr(whole, name), name


async def test_readers_that_resume_anywhere_while_others_write_and_delete_miss_nothing_and_see_nothing_twice(hands, deltas):
    dice = random.Random(11)
    place = await deltas.now()
    seen: list[Event] = []
    writing, kept, gone = True, set(), set()

    async def write(number: int) -> None:
        for turn in range(8):
            job_id = await hands.enqueue(tenant=f"t{number}")
            for job in await hands.claim(2, worker=f"w{number}"):
                await hands.settle(transitions.succeed(job.id, job.attempt, None, solo=number % 2 == 0))
            if turn % 4 == 3:
                gone.add(job_id)
                await delete(hands, job_id)
            else:
                kept.add(job_id)

    async def read() -> None:
        """Cuts itself off at a random event of every page, and goes on by that event's token."""
        nonlocal place
        while writing:
            page = await deltas.page(place, limit=5)
            if page.events and dice.random() < 0.5:
                taken = dice.randrange(1, len(page.events) + 1)
                seen.extend(page.events[:taken])
                token = deltas.token(page.place_after(page.events[taken - 1]))
                place = await deltas.place(token, within=A_WEEK)
            else:
                seen.extend(page.events)
                place = page.end

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        reader = group.create_task(read())
        await asyncio.gather(*(write(n) for n in range(5)))
        writing = False
        await reader
    seen += (await read_on(deltas, place, limit=5))[0]
    assert len(seen) == len(set(keys(seen)))
    assert {key for key in keys(seen) if key[0] in kept} == {key for key in await everything(hands) if key[0] in kept}
    assert {event.job_id for event in seen if event.name == DELETED} == gone
    assert_in_order(seen)


class TestOnPostgres:
    """Where a later transaction can commit before an earlier one."""

    @pytest.fixture
    async def hands(self, postgres_url):
        async with opened(postgres_url) as own:
            yield own

    async def test_a_transaction_that_commits_late_is_not_missed_wherever_the_delta_was_cut(self, hands, deltas):
        place = await deltas.now()
        late = new_job()
        seen = []
        async with hands.store.transaction() as tx:
            await tx.insert_jobs([late])  # has its transaction id now, the smaller one
            early = [await hands.enqueue() for _ in range(5)]
            events, place = await read_on(deltas, place, limit=2)
            seen += events
            assert sorted(keys(seen)) == sorted((job_id, 1) for job_id in early)
            assert deltas.token(place).endswith(place.since)
            assert len(place.since.split(":")[2]) > 0, "the open transaction is in the cursor"
        events, place = await read_on(deltas, place, limit=2)
        assert keys(events) == [(late.id, 1)]
        assert (await read_on(deltas, place))[0] == []

    @pytest.mark.parametrize("limit", [1, 2, 3, 2000])
    async def test_an_older_transaction_that_touched_the_job_later_does_not_turn_its_order_around(
        self, hands, deltas, limit
    ):
        job_id = await hands.enqueue()
        place = await deltas.now()
        async with hands.store.transaction() as tx:
            await tx.insert_jobs([new_job(queue="elsewhere")])
            [claimed] = await hands.claim()  # a younger transaction writes seq 2 first
            assert await ledger.apply(tx, [transitions.release(job_id, claimed.attempt)]) == [None]
        for _ in range(4):
            await hands.enqueue(queue="other")
        events, _ = await read_on(deltas, place, limit=limit)
        assert [event.seq for event in events if event.job_id == job_id] == [2, 3]
        assert len(events) == 7
        assert_in_order(events)

    async def test_a_long_backlog_is_read_in_deltas_of_a_bounded_size(self, hands, deltas):
        place = await deltas.now()
        for _ in range(30):
            await hands.enqueue()
        sizes = []
        while True:
            page = await deltas.page(place, limit=4)
            sizes.append(len(page.events))
            place = page.end
            if not page.more:
                break
        assert sum(sizes) == 30
        assert max(sizes) <= 8

    async def test_one_large_transaction_is_read_in_several_pages(self, hands, deltas):
        place = await deltas.now()
        ids = await hands.enqueue_many(25)
        pages, more = [], True
        while more:
            page = await deltas.page(place, limit=4)
            pages.append(len(page.events))
            place, more = page.end, page.more
        assert max(pages) == 8
        assert sum(pages) == len(ids)

    async def test_what_is_rolled_back_never_appears(self, hands, deltas):
        place = await deltas.now()
        with contextlib.suppress(ZeroDivisionError):
            async with hands.store.transaction() as tx:
                await tx.insert_jobs([new_job()])
                raise ZeroDivisionError
        job_id = await hands.enqueue()
        assert keys((await read_on(deltas, place))[0]) == [(job_id, 1)]

"""The event stream's cursor is a snapshot: nothing is missed, nothing comes twice, and nobody is waited for.

On PostgreSQL a transaction that began earlier may commit later. A reader that goes by the highest number misses it; one
that waits for everything older stalls behind any open transaction. On SQLite writers take turns, and a number will do.
"""

import asyncio
import random
from collections import Counter
from contextlib import suppress

from tests.contracts.streams import stream_since, stream_start
from tests.interleaving.scene import Scene
from tests.interleaving.stage import Stage
from towpath.core import transitions
from towpath.core.failpoints import reach
from towpath.core.records import Event
from towpath.store import journal
from towpath.store.contract import Store
from towpath.store.journal import Note


async def read_all(store: Store, cursor: str, limit: int = 5000) -> tuple[list[Event], str]:
    found: list[Event] = []
    more = True
    while more:
        events, cursor, more = await stream_since(store, cursor, limit)
        found += events
    return found, cursor


def names(events: list[Event]) -> list[tuple[str, int]]:
    return [(event.job_id, event.seq) for event in events]


async def test_an_earlier_transaction_that_commits_later_is_delivered_exactly_once(postgres_stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        start = await stream_start(scene.store)
        early, late = scene.new(), scene.new()
        seen: list[Event] = []
        stalled = False

        async def slow() -> None:
            async with scene.store.transaction() as tx:
                await tx.insert_jobs([early])
                await reach("written, not committed")

        async def reader() -> None:
            nonlocal stalled
            cursor = start
            for _ in range(2):
                committed = [job.id for job in await scene.jobs()]
                events, cursor = await read_all(scene.store, cursor)
                seen.extend(events)
                stalled |= not set(committed) <= {event.job_id for event in seen}
                await reach("read")
            seen.extend((await read_all(scene.store, cursor))[0])

        await scene.together(slow=slow, quick=scene.enqueue(late), reader=reader)
        rest, _ = await read_all(scene.store, start)
        assert not stalled, "something was committed, and the reader did not get it at once"
        assert set(names(seen)) <= set(names(rest))
        assert max(Counter(names(seen)).values(), default=0) <= 1
        assert set(names(rest)) == {(early.id, 1), (late.id, 1)}

    scenes = await postgres_stage.every_order(play)
    assert len(scenes) > 20


async def test_going_by_the_highest_number_would_miss_it_and_waiting_for_the_oldest_would_stall(
    postgres_stage: Stage,
) -> None:
    """The two obvious alternatives, beside the cursor, on the same three transactions."""
    scene_store = postgres_stage.store
    start = await stream_start(scene_store)

    async def numbers(where: str) -> set[int]:
        text = f"SELECT xid::text::bigint AS xid FROM towpath.event_batch WHERE {where}"
        return {row["xid"] for row in await scene_store.read(lambda tx: tx.fetch_sql(text))}

    scene = Scene(postgres_stage.app, "q", None)
    async with scene_store.transaction() as open_one:
        await open_one.insert_jobs([scene.new()])
        await scene.add()
        by_number = await numbers("true")
        by_oldest = await numbers("xid < pg_snapshot_xmin(pg_current_snapshot())")
        first, cursor = await read_all(scene_store, start)
    by_number |= await numbers(f"xid > '{max(by_number)}'")
    second, _ = await read_all(scene_store, cursor)
    assert len(by_number) == 1, "it would have been found after all"
    assert not by_oldest, "it would not have stalled after all"
    assert (len(first), len(second)) == (1, 1)


async def test_what_was_rolled_back_is_never_delivered(postgres_stage: Stage) -> None:
    store, scene = postgres_stage.store, Scene(postgres_stage.app, "q", None)
    cursor = await stream_start(store)
    with suppress(ZeroDivisionError):
        async with store.transaction() as tx:
            await tx.insert_jobs([scene.new()])
            seen, cursor = await read_all(store, cursor)
            assert seen == []
            raise ZeroDivisionError
    assert (await read_all(store, cursor))[0] == []


async def test_the_stream_goes_on_from_any_event_it_has_delivered(stage: Stage) -> None:
    """What it promises is that every event comes once, and each job's events in order. Between jobs it promises nothing:
    inside a delta they stand by job, and how many events are asked for decides where deltas end (decision 0013). So in
    smaller pieces other jobs may come first; but the same pieces always come in the same order, as tokens need it.
    """
    store, scene = stage.store, Scene(stage.app, "q", None)
    start = await stream_start(store)
    for _ in range(3):
        await store.enqueue([scene.new() for _ in range(3)])
    for job in await scene.claim(5):
        await scene.succeed(job)()
    whole, _ = await read_all(store, start)
    assert len(whole) == 9 + 5 + 5
    for position, event in enumerate(whole):
        rest, _ = await read_all(store, event.token)
        assert names(rest) == names(whole[position + 1 :])
    in_pieces, _ = await read_all(store, start, limit=4)
    assert names(in_pieces) == names((await read_all(store, start, limit=4))[0])
    assert sorted(names(in_pieces)) == sorted(names(whole))
    for job_id in {event.job_id for event in whole}:
        assert [event.seq for event in in_pieces if event.job_id == job_id] == [
            event.seq for event in whole if event.job_id == job_id
        ]


async def test_many_writers_and_a_reader_that_never_waits_agree_in_the_end(stage: Stage) -> None:
    store, scene = stage.store, Scene(stage.app, "q", None)
    dice = random.Random(7)
    cursor = await stream_start(store)
    seen: list[Event] = []

    async def writer(delays: list[float]) -> None:
        for delay in delays:
            await scene.add()
            for job in await scene.claim(2):
                note = Note(job.id, job.attempt, name="a.note", fields={"n": 1})
                await store.run(lambda tx, note=note: journal.record(tx, [note]))
                await asyncio.sleep(delay)  # lets another transaction go first; nothing is asserted about time
                await store.settle([transitions.succeed(job.id, job.attempt, None, solo=True)])

    async def reader(done: asyncio.Event) -> None:
        nonlocal cursor
        while not done.is_set():
            events, cursor = await read_all(store, cursor, limit=7)
            seen.extend(events)
            await asyncio.sleep(0)

    finished = asyncio.Event()
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        reading = group.create_task(reader(finished))
        await asyncio.gather(*(writer([dice.random() / 500 for _ in range(12)]) for _ in range(6)))
        finished.set()
        await reading
    seen += (await read_all(store, cursor))[0]
    assert sorted(names(seen)) == sorted(names(await scene.events()))
    for job_id in {event.job_id for event in seen}:
        numbers = [event.seq for event in seen if event.job_id == job_id]
        assert numbers == sorted(numbers), "the events of one job came in the wrong order"

"""One reader for all streams: what it reads, whom it tells, and what it does with those who are slow."""

import asyncio
import json
import random
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial

import pytest

from tests.contracts.stores import Hands, until
from tests.engine.working import on_postgres, on_sqlite
from tests.server.push.listening import Parser
from tests.server.push.serving import PATIENCE
from towpath.core import transitions
from towpath.core.errors import StoreUnavailable
from towpath.engine.changing import deleting
from towpath.http.problems import Problem
from towpath.push import Hub, Limits, Wanted
from towpath.push.stream import Stream

EVERYTHING = Wanted(None)
QUICK = Limits(heartbeat=0.05, interval=0.0, page=20)


def describe(job, events):
    """As short as a message can be."""
    return json.dumps({"job": job.id, "seq": job.seq, "events": [event.seq for event in events]})


@pytest.fixture
def hands(app):
    return Hands(app.services.store)


@pytest.fixture
async def hub(hands):
    made = Hub(hands.store, describe, QUICK)
    yield made
    await made.stop()


class Ear:
    """What one stream has sent, over any number of openings."""

    def __init__(self, hub, wanted=EVERYTHING, pause=0.0):
        self.hub = hub
        self.wanted = wanted
        self.pause = pause
        self.parser = Parser()
        self.heard = []

    @property
    def events(self):
        return [(m.data["job"], seq) for m in self.heard if m.event == "job" for seq in m.data["events"]]

    @property
    def deleted(self):
        return [m.data["id"] for m in self.heard if m.event == "deleted"]

    @asynccontextmanager
    async def open(self, hub=None):
        hub = hub or self.hub
        ending = hub.enter("somebody")
        try:
            stream = await Stream.open(hub, self.wanted, self.parser.last_id, ending)
            listening = asyncio.create_task(self._listen(stream))
            try:
                yield ending
            finally:
                listening.cancel()
                with suppress(asyncio.CancelledError):
                    await listening
                stream.close()
        finally:
            hub.exit(ending)

    async def _listen(self, stream):
        async for chunk in stream.chunks():
            self.heard += self.parser.feed(chunk)
            await asyncio.sleep(self.pause)


async def delete(tx, ids):
    await tx.jobs("lock_jobs", ids=ids)
    await deleting.delete_jobs(tx, ids)


async def everything(hands):
    return sorted(await hands.batched_events())


async def test_streams_that_come_and_go_at_any_moment_miss_nothing_and_hear_nothing_twice(hands, hub):
    """Each of them leaves and returns at random while jobs are made, run and deleted: every way of joining occurs."""
    dice = random.Random(5)
    ears = [Ear(hub) for _ in range(8)]
    for ear in ears:
        async with ear.open():
            await until(lambda ear=ear: ear.parser.last_id, "the stream's first id")
    writing, gone = True, set()

    async def write(number):
        for turn in range(12):
            ids = await hands.enqueue_many(dice.randrange(1, 15))
            for job in await hands.claim(4, worker=f"w{number}"):
                await hands.settle(transitions.succeed(job.id, job.attempt, None, solo=number % 2 == 0))
            if turn % 3 == 2:
                gone.add(ids[0])
                await hands.store.run(partial(delete, ids=ids[:1]))

    async def listen(ear):
        while writing:
            async with ear.open():
                await asyncio.sleep(dice.random() * 0.05)
            await asyncio.sleep(dice.random() * 0.03)

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        for ear in ears:
            group.create_task(listen(ear))
        await asyncio.gather(*(write(number) for number in range(4)))
        writing = False
    last = await hands.enqueue()
    expected = await everything(hands)
    for ear in ears:
        async with ear.open():
            await until(lambda ear=ear: last in dict(ear.events), "the last job")
        assert len(ear.events) == len(set(ear.events))
        assert sorted(key for key in ear.events if key[0] not in gone) == expected
        assert Counter(ear.deleted) == Counter(gone)


async def test_a_stream_that_comes_from_a_hub_further_ahead_hears_nothing_twice(hands, hub):
    """Two server processes: the one it comes to has not read yet what it was told by the other."""
    slow = Hub(hands.store, describe, Limits(interval=0.5, heartbeat=0.05))
    witness, ear = Ear(slow), Ear(hub)
    async with witness.open():
        await hands.enqueue()
        await until(lambda: witness.events, "the slow hub's first read")
        async with ear.open():
            jobs = await hands.enqueue_many(5)
            await until(lambda: len(ear.events) == 5, "the quick hub's news")
        assert len(witness.events) == 1, "the slow hub has not read them yet"
        async with ear.open(slow):
            jobs.append(await hands.enqueue())
            await until(lambda: len(ear.events) == 6, "the slow hub's news")
    assert sorted(ear.events) == sorted((job_id, 1) for job_id in jobs)
    await slow.stop()


async def test_each_message_is_encoded_once_however_many_listen(hands):
    made = Counter()

    def counting(job, events):
        made[job.id, events[-1].seq] += 1
        return describe(job, events)

    hub = Hub(hands.store, counting, QUICK)
    ears = [Ear(hub) for _ in range(30)]
    async with AsyncExitStack() as stack:
        for ear in ears:
            await stack.enter_async_context(ear.open())
        reads = hub.reads
        jobs = await hands.enqueue_many(10)
        await until(lambda: all(len(ear.events) == 10 for ear in ears), "ten jobs, thirty times")
        assert hub.reads - reads < 10
    assert made == {(job_id, 1): 1 for job_id in jobs}
    await hub.stop()


async def test_nothing_is_read_or_encoded_for_nobody(hands, hub):
    ear = Ear(hub, Wanted("anna"))
    async with ear.open():
        await hands.enqueue(tenant="anna")
        await until(lambda: ear.events, "a job of anna")
    await until(lambda: not hub.running, "the end of reading")
    reads = hub.reads
    await hands.enqueue_many(3, tenant="anna")
    await asyncio.sleep(0.05)
    assert (hub.running, hub.reads) == (False, reads)
    async with ear.open():
        await until(lambda: len(ear.events) == 4, "what was missed")


async def test_a_burst_of_ten_thousand_lets_everybody_else_work(hands):
    hub = Hub(hands.store, describe, Limits(heartbeat=5.0))
    ears = [Ear(hub), Ear(hub, Wanted("anna"))]
    turns = 0

    async def others():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with ears[0].open(), ears[1].open():
        await hands.enqueue_many(10_000, tenant="anna")
        working = asyncio.create_task(others())
        await until(lambda: all(len(ear.events) == 10_000 for ear in ears), "ten thousand jobs")
        working.cancel()
    assert turns > 10_000 / 50, "composing did not make room for others after each slice"
    for ear in ears:
        assert len(set(ear.events)) == 10_000
    await hub.stop()


async def test_a_stream_that_does_not_read_is_ended_and_comes_back_for_the_rest(hands):
    hub = Hub(hands.store, describe, Limits(mailbox=2000, patience=0.01, heartbeat=0.05))
    slow, quick = Ear(hub), Ear(hub)
    async with quick.open():
        ending = hub.enter("slow")
        stream = await Stream.open(hub, EVERYTHING, None, ending)
        chunks = stream.chunks()
        for _ in range(2):  # it takes its first words and then no more
            slow.heard += slow.parser.feed(await anext(chunks))
        jobs = [await hands.enqueue() for _ in range(60)]
        await until(ending.called, "the end of the slow one")
        assert ending.reason == "overflow"
        assert [chunk async for chunk in chunks] == []
        stream.close()
        hub.exit(ending)
        await until(lambda: len(quick.events) == 60, "everything, for the quick one")
    async with slow.open():
        await until(lambda: len(slow.events) == 60, "everything, for the slow one")
    assert sorted(slow.events) == sorted(quick.events) == sorted((job_id, 1) for job_id in jobs)
    await hub.stop()


async def test_a_stream_that_does_not_read_holds_up_the_others_once(hands):
    """It is half full, not more: it has not been ended, and waiting for it at every message would stop everybody."""
    hub = Hub(hands.store, describe, Limits(mailbox=40_000, patience=1.5, interval=0.0))
    quick = Ear(hub)
    async with quick.open():
        ending = hub.enter("slow")
        stream = await Stream.open(hub, EVERYTHING, None, ending)
        await hands.enqueue_many(100)  # about 24,000 bytes
        async with asyncio.timeout(PATIENCE):
            for _ in range(50):  # a wait for each would be too much
                known = len(quick.events)
                await hands.enqueue()
                await until(lambda known=known: len(quick.events) > known, "the next job")
        assert not ending.called()
        stream.close()
        hub.exit(ending)
    await hub.stop()


async def test_streams_that_are_all_behind_are_waited_for_as_long_as_they_get_on(hands, monkeypatch):
    """As in a burst that this process itself cannot send any faster: ending them would only make it worse."""
    monkeypatch.setattr("towpath.push.mailbox._AT_ONCE", 1000)
    hub = Hub(hands.store, describe, Limits(mailbox=20_000, patience=0.2))
    ears = [Ear(hub, pause=0.05) for _ in range(4)]  # half a mailbox takes them longer than patience lasts
    async with AsyncExitStack() as stack:
        endings = [await stack.enter_async_context(ear.open()) for ear in ears]
        jobs = await hands.enqueue_many(250)
        await until(lambda: all(len(ear.events) == 250 for ear in ears), "the burst, four times")
        assert not any(ending.called() for ending in endings)
    assert all(sorted(ear.events) == sorted((job_id, 1) for job_id in jobs) for ear in ears)
    await hub.stop()


class Flaky:
    """A store whose reads fail now and then, before they begin or after they have succeeded."""

    def __init__(self, store):
        self._store = store
        self._dice = random.Random(9)
        self.failures = 0
        self.failing = False

    def __getattr__(self, name):
        return getattr(self._store, name)

    async def read(self, unit):
        fate = self._dice.random() if self.failing else 1.0
        found = await self._store.read(unit) if fate > 0.15 else None
        if fate <= 0.3:
            self.failures += 1
            raise StoreUnavailable("the network is having a bad day")
        return found


async def test_a_database_that_fails_now_and_then_costs_time_and_nothing_else(hands, monkeypatch):
    monkeypatch.setattr("towpath.push.hub._AFTER_A_FAILURE", 0.001)
    monkeypatch.setattr("towpath.push.composing._ROWS", 3)  # so that it fails in the middle of pages too
    store = Flaky(hands.store)
    hub = Hub(store, describe, Limits(heartbeat=0.05, interval=0.0, page=10))
    ear = Ear(hub)
    async with ear.open():
        store.failing = True
        jobs = []
        for _ in range(10):
            jobs += await hands.enqueue_many(10)
        await until(lambda: len(ear.events) >= 100, "everything")
        store.failing = False
        jobs.append(await hands.enqueue())
        await until(lambda: jobs[-1] in dict(ear.events), "the last job")
    assert store.failures > 3
    assert sorted(ear.events) == sorted((job_id, 1) for job_id in jobs)
    await hub.stop()


async def test_a_job_that_cannot_be_put_into_words_does_not_end_the_stream(hands, caplog):
    def fussy(job, events):
        if job.tenant == "odd":
            raise ValueError("no words for it")
        return describe(job, events)

    hub = Hub(hands.store, fussy, QUICK)
    ear = Ear(hub)
    async with ear.open():
        odd = await hands.enqueue(tenant="odd")
        good = await hands.enqueue()
        await until(lambda: ear.events, "the other job")
    assert ear.events == [(good, 1)]
    assert f"job {odd} could not be put into words" in caplog.text
    await hub.stop()


@on_sqlite
async def test_whoever_gives_up_while_joining_leaves_nothing_behind(hands, hub):
    for delay in (0.0, 0.001, 0.01):
        ending = hub.enter("hasty")
        joining = asyncio.create_task(hub.join(EVERYTHING, ending))
        await asyncio.sleep(delay)
        joining.cancel()
        with suppress(asyncio.CancelledError):
            hub.leave(await joining)
        hub.exit(ending)
    await until(lambda: not hub.running, "the end of reading")
    assert hub.listeners == 0


@on_sqlite
async def test_a_stopped_hub_ends_its_streams_and_takes_no_more(hands, hub):
    async with Ear(hub).open() as ending:
        await hub.stop()
        assert ending.reason == "shutdown"
        with pytest.raises(Problem, match="shutting down"):
            hub.enter("late")
    await hub.stop()


@on_postgres
async def test_a_reader_that_cannot_read_in_time_refuses_new_streams(hands, monkeypatch):
    store = Flaky(hands.store)
    hub = Hub(store, describe, Limits(joining=0.1))
    await hub.deltas()

    async def down(unit):
        raise StoreUnavailable("the database is away")

    store.read = down
    ending = hub.enter("early")
    with pytest.raises(StoreUnavailable, match="in time"):
        await Stream.open(hub, EVERYTHING, None, ending)
    hub.exit(ending)
    await hub.stop()

"""Jobs and doorbells of every kind: a bell is a hint, and whatever becomes of it, jobs run once and in fair order."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterable

import pytest

from tests.contracts.installations import BROKERS, TRANSPORTS, Installation, Parts, installed, parts_for
from tests.engine.working import ended, eventually, in_state, working
from towpath import App, Context
from towpath.config import Settings
from towpath.engine.asking.findings import Level

NEVER = 3600.0  # no poll within any test: whatever is found is found because it rang


@pytest.fixture(params=TRANSPORTS)
def parts(request) -> Parts:
    return parts_for(request, request.param)


@pytest.fixture
async def site(parts, tmp_path) -> AsyncIterator[Installation]:
    async with installed(parts, tmp_path) as own:
        yield own


def with_jobs(app: App, ran: list) -> App:
    @app.operation("note", queue="q")
    async def note(ctx: Context, payload):
        ran.append(payload)
        return payload

    @app.operation("await", queue="q")
    async def waits(ctx: Context, payload):
        return await ctx.wait_for("go", timeout=60)

    @app.operation("fail", queue="q", max_attempts=1)
    async def fail(ctx: Context, payload):
        ran.append("failed")
        raise ValueError("on purpose")

    return app


async def test_whatever_one_process_makes_ready_wakes_a_worker_in_another(site):
    """Enqueue, a transaction, a signal, a requeue, and a job that falls due: the worker never looks unasked."""
    ran: list = []
    never = {"poll_seconds": NEVER}
    async with with_jobs(site.app(**never), []) as here, with_jobs(site.app(**never), ran) as there, working(there, "q"):
        await ended(here, await here.enqueue("note", 1))
        async with here.transaction() as tx:
            job = await tx.enqueue("note", 2)
        await ended(here, job)
        waiting = await in_state(here, await here.enqueue("await"), "waiting")
        await here.signal(waiting.id, "go", "gone")
        assert (await ended(here, waiting)).state == "succeeded"
        failed = await ended(here, await here.enqueue("fail"))
        await here.requeue(failed.id)
        await eventually(lambda: ran.count("failed") == 2)
        await ended(here, await here.enqueue("note", 3, delay=0.3))
    assert [one for one in ran if one != "failed"] == [1, 2, 3]


async def test_order_is_fair_and_nobody_takes_more_than_twice_his_slots(site):
    """A small tenant comes after a big one's backlog, on workers that are woken by bells."""
    begun: list[str] = []
    most = 0
    free = asyncio.Event()
    free.set()

    def worker() -> App:
        app = site.app()

        @app.operation("turn", queue="q")
        async def turn(ctx: Context, payload):
            begun.append(payload)
            await free.wait()

        return app

    async with worker() as first, worker() as second, worker() as here:
        made = await here.enqueue_many([{"operation": "turn", "payload": "big", "tenant": "big"} for _ in range(60)])
        small = await here.enqueue_many([{"operation": "turn", "payload": "small", "tenant": "small"} for _ in range(5)])
        free.clear()
        slots = 2 * 3
        async with working(first, "q", concurrency=3), working(second, "q", concurrency=3):
            await eventually(lambda: len(begun) == slots)
            most = await running(here)
            free.set()
            for job in [*made, *small]:
                await ended(here, job)
    assert slots <= most <= 2 * slots
    # One turn each: the five of the small tenant are among the first ten, give or take what is begun at the same time.
    assert max(place for place, who in enumerate(begun) if who == "small") < 10 + 2 * slots
    assert Counter(begun) == {"big": 60, "small": 5}


async def running(app: App) -> int:
    return len(await app.list(state="running", limit=200))


class Mischief:
    """Loses a third of all bells, rings a third twice over, and shuffles them."""

    def __init__(self, transport, seed: int) -> None:
        self._ring, self._random = transport.ring, random.Random(seed)
        self._late: list[str] = []

    def __call__(self, topics: Iterable[str]) -> None:
        copies = [topic for topic in topics for _ in range(self._random.choice([0, 1, 1, 2, 5]))]
        self._late += copies
        self._random.shuffle(self._late)
        now, self._late = self._late[: len(self._late) // 2 + 1], self._late[len(self._late) // 2 + 1 :]
        self._ring(now)


async def test_bells_that_are_lost_doubled_and_shuffled_run_every_job_once(site):
    ran: list[int] = []
    async with with_jobs(site.app(poll_seconds=0.2), []) as here, with_jobs(site.app(poll_seconds=0.2), ran) as there:
        for number, app in enumerate((here, there)):
            app.services.store.ring = Mischief(app.services.transport, number)
        async with working(there, "q"), working(there, "q"):
            jobs = [await here.enqueue("note", number) for number in range(40)]
            for job in jobs:
                assert (await ended(here, job)).state == "succeeded"
    assert sorted(ran) == list(range(40))


@pytest.fixture
def broker(request, parts):
    return request.getfixturevalue({"rabbitmq": "rabbit_server", "sqs": "sqs_server"}[parts.name])


@pytest.mark.parametrize("parts", BROKERS, indirect=True)
async def test_a_broker_that_is_away_for_a_while_costs_nothing_but_time(site, broker, caplog):
    ran: list[int] = []
    quick = {"poll_seconds": 0.2}
    async with with_jobs(site.app(**quick), []) as here, with_jobs(site.app(**quick), ran) as there, working(there, "q"):
        await ended(here, await here.enqueue("note", 0))
        await asyncio.to_thread(broker.kill if hasattr(broker, "kill") else broker.stop)
        try:
            for number in range(1, 11):
                await ended(here, await here.enqueue("note", number))
            await eventually(lambda: there.services.transport.away and here.services.transport.away, 60)
            told = (await here.checkup())[-1]
            assert told.level is Level.PROBLEM
            assert "workers look for new jobs by themselves" in told.message
            said = [line.getMessage() for line in caplog.records if "does not answer" in line.getMessage()]
            assert 1 <= len(said) <= 2  # once for each of the two processes
        finally:
            await asyncio.to_thread(broker.start)
        await ended(here, await here.enqueue("note", 11))
        await eventually(lambda: not there.services.transport.away and not here.services.transport.away, 60)
        assert (await here.checkup())[-1].level is Level.OK
    assert ran == list(range(12))


async def test_a_broker_that_is_away_at_the_start_is_waited_for_and_told_by_explain(sqlite_url):
    settings = Settings(transport="amqp://user:secret@127.0.0.1:9/", poll_seconds=0.1)
    app, waiting = with_jobs(App(sqlite_url, settings=settings), []), asyncio.Event()

    @app.operation("hold", queue="q")
    async def hold(ctx: Context, payload):
        await waiting.wait()

    async with app:
        async with working(app, "q", concurrency=1):
            assert (await ended(app, await app.enqueue("note", 2))).state == "succeeded"
            await in_state(app, await app.enqueue("hold"), "running")
            behind = await app.enqueue("note", 3)
            await eventually(lambda: app.services.transport.away)
            told = await app.explain(behind.id)
            waiting.set()
        assert "RabbitMQ at amqp://user:***@127.0.0.1:9/ is away, so workers look every 0.1 s" in told.sentence
        assert "secret" not in told.sentence


class Deaf:
    """A transport that loses every bell, which is within what the contract allows."""

    def __init__(self, own) -> None:
        self._own = own

    def ring(self, topics) -> None: ...

    def listen(self, heard, topics=None):
        return lambda: None

    def attend(self, queues, heard):
        return self._own.attend([], heard)

    async def close(self) -> None:
        await self._own.close()


async def test_a_bell_that_is_lost_costs_a_poll_and_no_job(database_url):
    app = with_jobs(App(database_url, settings=Settings(poll_seconds=0.05)), [])
    async with app:
        deaf = Deaf(app.services.transport)
        app.services.transport, app.services.store.ring = deaf, deaf.ring
        async with working(app, "q"):
            jobs = [await app.enqueue("note", n) for n in range(5)]
            assert [(await ended(app, job)).result for job in jobs] == [0, 1, 2, 3, 4]


async def test_bells_for_nothing_and_twice_over_run_no_job_twice(database_url):
    app = App(database_url)
    ran: list[int] = []

    @app.operation("note", queue="q")
    async def note(ctx, payload):
        app.services.transport.ring(["q", "*", "q", "unknown", f"!worker:{ctx.id}"])
        ran.append(payload)

    async with app, working(app, "q"):
        jobs = await app.enqueue_many([{"operation": "note", "payload": n} for n in range(20)])
        for job in jobs:
            await ended(app, job)
    assert sorted(ran) == list(range(20))

"""Doorbells: they reach everybody soon, never fail who rings, and losing one costs a poll and no job."""

import asyncio
import sys

import pytest

from tests.contracts.stores import PATIENCE, new_job, opened, until
from towpath import App
from towpath.config import Settings
from towpath.core import transitions
from towpath.transports.database import DatabaseTransport


@pytest.fixture
async def transport(hands):
    own = DatabaseTransport(hands.store.bell)
    await own.open()
    yield own
    await own.close()


async def test_a_ring_reaches_every_listener_of_the_process(transport):
    first, second = [], []
    transport.listen(first.append)
    transport.listen(second.append)
    transport.ring(["a", "b"])
    await until(lambda: {"a", "b"} <= set(first) and {"a", "b"} <= set(second), "both listeners heard both topics")


async def test_who_stops_listening_hears_no_more(transport):
    gone, there = [], []
    stop = transport.listen(gone.append)
    transport.listen(there.append)
    stop()
    stop()
    transport.ring(["late"])
    await until(lambda: "late" in there, "the other listener heard")
    assert "late" not in gone


async def test_a_commit_rings_for_every_queue_that_got_something_to_do(hands, transport):
    heard = []
    transport.listen(heard.append)
    await hands.store.enqueue([new_job(queue="x"), new_job(queue="y"), new_job(queue="later", delay=3600.0)])
    await until(lambda: {"x", "y"} <= set(heard), "the bell rang for both queues")
    assert "later" not in heard


async def test_cancelling_rings_for_the_worker_that_holds_the_job(hands, transport):
    heard = []
    transport.listen(heard.append)
    job = await hands.start()
    await hands.apply(transitions.cancel(job.id))
    await until(lambda: "worker:w" in heard, "the bell rang for the worker")


async def test_nobody_listening_is_no_reason_to_fail(transport):
    transport.ring(["nobody"])
    transport.ring([])


async def test_a_listener_that_fails_hurts_neither_the_ringer_nor_the_others(hands, transport, caplog):
    heard = []

    def broken(topic: str) -> None:
        raise RuntimeError("a listener with a bug")

    transport.listen(broken)
    transport.listen(heard.append)
    transport.ring(["a"])
    assert await hands.enqueue() is not None
    await until(lambda: {"a", "q"} <= set(heard), "the healthy listener heard everything")
    assert "a listener with a bug" in caplog.text


LISTENER = """
import asyncio, sys
from tests.contracts.stores import opened

async def main(url):
    async with opened(url) as hands:
        heard = asyncio.Event()
        hands.store.bell.listen(lambda topic: print(topic, flush=True))
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        await hands.enqueue(queue="from-child")
        await asyncio.to_thread(sys.stdin.readline)

asyncio.run(main(sys.argv[1]))
"""


async def test_what_one_process_commits_is_heard_in_another(database_url, hands, transport):
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LISTENER, database_url, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(60):
            while (await child.stdout.readline()).strip() != b"ready":
                pass
            told: list[str] = []

            async def listen() -> None:
                while line := await child.stdout.readline():
                    told.append(line.decode().strip())

            listening = asyncio.create_task(listen())
            # `*` means that anything may have changed. The child may still be connecting its bell: ring until it hears.
            while not {"from-parent", "*"} & set(told):
                await hands.enqueue(queue="from-parent")
                await asyncio.sleep(0.05)
            heard: list[str] = []
            transport.listen(heard.append)
            child.stdin.write(b"ring back\n")
            await until(lambda: {"from-child", "*"} & set(heard), "the parent heard the child's commit")
            child.stdin.write(b"enough\n")
            await child.wait()
            await listening
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    assert child.returncode == 0


class Deaf:
    """A transport that loses every bell, which is within what the contract allows."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def ring(self, topics) -> None: ...

    def listen(self, heard):
        return lambda: None


async def test_a_bell_that_is_lost_costs_a_poll_and_no_job(database_url):
    app = App(database_url, settings=Settings(poll_seconds=0.05))

    @app.operation("add", queue="q")
    async def add(ctx, payload):
        return payload + 1

    async with app:
        app.services.transport = Deaf()
        app.services.store.ring = Deaf().ring
        working = asyncio.create_task(app.run_worker(["q"], 2))
        jobs = [await app.enqueue("add", n) for n in range(5)]
        assert [await app.result(job.id, timeout=PATIENCE) for job in jobs] == [1, 2, 3, 4, 5]
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working


async def test_bells_for_nothing_and_twice_over_run_no_job_twice(database_url):
    app = App(database_url)
    ran: list[int] = []

    @app.operation("note", queue="q")
    async def note(ctx, payload):
        app.services.transport.ring(["q", "*", "q", "unknown", f"worker:{ctx.id}"])
        ran.append(payload)

    async with app:
        working = asyncio.create_task(app.run_worker(["q"], 4))
        jobs = await app.enqueue_many([{"operation": "note", "payload": n} for n in range(20)])
        for job in jobs:
            await app.result(job.id, timeout=PATIENCE)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
    assert sorted(ran) == list(range(20))


async def test_a_bell_that_loses_its_connection_comes_back(postgres_url):
    async with opened(postgres_url) as hands, opened(postgres_url) as other:
        heard: list[str] = []
        hands.store.bell.listen(heard.append)
        kill = (
            "SELECT count(pg_terminate_backend(pid)) AS n FROM pg_stat_activity "
            "WHERE query LIKE 'LISTEN%' AND datname = current_database()"
        )
        async with asyncio.timeout(PATIENCE):
            while (await other.sql(kill))[0]["n"] == 0:  # noqa: ASYNC110  (another connection is connecting)
                await asyncio.sleep(0.02)
            heard.clear()
            while "again" not in heard:
                await other.enqueue(queue="again")
                await asyncio.sleep(0.05)

"""Nothing is lost and nothing comes twice: connections are cut at random, servers are killed, clients change servers."""

import asyncio
import random
from contextlib import AsyncExitStack, suppress

import httpx
import pytest

from tests.engine.working import ended, on_postgres, working
from tests.server.push.listening import Listener
from tests.server.push.serving import PATIENCE, ServerProcess, free_port
from tests.soundness import batched_events

MARK = "the last job"


async def everything(app):
    """(job, seq) of every event there is."""
    rows = await app.services.store.read(lambda tx: tx.fetch_sql(f"SELECT job_id, seq FROM {batched_events(tx.dialect)}"))
    return sorted((str(row["job_id"]), row["seq"]) for row in rows)


def assert_heard_once_and_in_order(listener, expected, but_not=()):
    heard = [key for key in listener.events if key[0] not in but_not]
    assert len(listener.events) == len(set(listener.events)), "something came twice"
    assert sorted(heard) == expected, "something was lost"
    last: dict[str, int] = {}
    for job_id, seq in listener.events:
        assert seq > last.get(job_id, 0), "a job's events came in the wrong order"
        last[job_id] = seq
    for data in listener.of("job"):
        assert data["job"]["seq"] >= data["events"][-1]["seq"], "a row was older than its events"


async def busy(app, jobs, *, pause):
    """Makes jobs and waits for them, while a worker runs them; every fifth is deleted when it has ended."""
    deleted = []

    async def one(number):
        await asyncio.sleep(pause * number)
        job = await app.enqueue("work", number % 4, tenant="anna")
        await ended(app, job, within=PATIENCE)
        if number % 5 == 4:
            await app.delete(job.id)
            deleted.append(job.id)

    async with working(app, concurrency=4):
        await asyncio.gather(*(one(number) for number in range(jobs)))
    return deleted


async def heard_to_the_end(app, listener, addresses):
    """Comes back until it has heard of a job that was made after everything else."""
    last = await app.enqueue("work", tenant="anna", key=MARK)
    async with asyncio.timeout(PATIENCE):
        while last.id not in dict(listener.events):
            with suppress(httpx.TransportError):
                async with listener.connected(addresses[0]):
                    await listener.until(lambda heard: last.id in dict(heard.events))
    return last


async def listen_with_interruptions(listener, addresses, dice, until):
    """Each connection is cut after a moment; the next one may go to another server."""
    while not until.done():
        with suppress(httpx.TransportError):
            async with listener.connected(dice.choice(addresses)):
                await asyncio.sleep(dice.random() * 0.12)


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_connection_that_is_cut_again_and_again_loses_and_repeats_nothing(app, address, token_for, seed):
    dice = random.Random(seed)
    listener = Listener(address, await token_for("anna"))
    async with listener.connected():
        await listener.until(lambda heard: heard.parser.last_id)
    async with asyncio.timeout(PATIENCE):
        work = asyncio.create_task(busy(app, 40, pause=0.03))
        await listen_with_interruptions(listener, [address], dice, work)
        deleted = await work
    await heard_to_the_end(app, listener, [address])
    assert listener.connections > 5
    assert_heard_once_and_in_order(listener, await everything(app), but_not=deleted)
    assert sorted(data["id"] for data in listener.of("deleted")) == sorted(deleted)


@pytest.fixture
async def processes(database_url):
    """Starts server processes on the test's database, and kills what is left of them."""
    async with AsyncExitStack() as stack:

        async def start(count):
            made = [ServerProcess(database_url, free_port()) for _ in range(count)]
            for process in made:
                stack.push_async_callback(process.kill)
            await asyncio.gather(*(process.start() for process in made))
            return made

        yield start


@on_postgres
async def test_a_client_may_go_from_one_server_process_to_another_in_the_middle(app, token_for, processes):
    dice = random.Random(3)
    addresses = [process.address for process in await processes(2)]
    token = await token_for("anna")
    listener, *faithful = [Listener(address, token) for address in (addresses[0], *addresses)]
    async with asyncio.timeout(2 * PATIENCE), faithful[0].connected(), faithful[1].connected():
        async with listener.connected():
            await listener.until(lambda heard: heard.parser.last_id)
        work = asyncio.create_task(busy(app, 40, pause=0.03))
        await listen_with_interruptions(listener, addresses, dice, work)
        deleted = await work
        last = await heard_to_the_end(app, listener, addresses)
        for one in faithful:
            await one.until(lambda heard: last.id in dict(heard.events))
    assert listener.connections > 5
    for one in (listener, *faithful):
        assert_heard_once_and_in_order(one, await everything(app), but_not=deleted)
        assert sorted(data["id"] for data in one.of("deleted")) == sorted(deleted)


async def test_a_server_that_is_killed_or_stopped_and_started_again_goes_on_where_it_was(app, token_for, processes):
    [server] = await processes(1)
    listener = Listener(server.address, await token_for("anna"))
    async with listener.connected():
        await listener.until(lambda heard: heard.parser.last_id)
    work = asyncio.create_task(busy(app, 40, pause=0.05))
    async with asyncio.timeout(3 * PATIENCE):
        ends = [server.kill, server.terminate] if app.services.store.dialect == "sqlite" else [server.kill]
        for end in ends:
            known = len(listener.heard)
            with suppress(httpx.TransportError):
                async with listener.connected():
                    await listener.until(lambda heard, known=known: len(heard.heard) > known)
                    await end()
                    # A server that stops says goodbye to its streams, and does not wait for them for ever.
            await server.start()
        deleted = await work
    await heard_to_the_end(app, listener, [server.address])
    assert_heard_once_and_in_order(listener, await everything(app), but_not=deleted)

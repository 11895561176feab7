"""Connections that are cut in the middle of something: callers see StoreUnavailable, and never the driver's own errors."""

import asyncio

import asyncpg
import pytest

from tests.contracts.stores import new_job, opened
from towpath.core.errors import StoreUnavailable


@pytest.fixture
async def hands(postgres_url):
    async with opened(postgres_url, pool_size=2) as own:
        yield own


async def cut_after(loops: int, connections: list) -> None:
    """Cuts a connection after so many turns of the event loop, which is in another message each time."""
    for _ in range(loops):
        await asyncio.sleep(0)
    for connection in connections:
        if not connection.is_closed():
            connection._transport.abort()


async def transact(hands, connections: list) -> None:
    async with hands.store.transaction() as tx:
        connections.append(tx.connection)
        await tx.fetch_sql("SELECT 1 AS one")
        await tx.insert_jobs([new_job(), new_job(lane="other")])
        await tx.execute_sql("SELECT 2")


@pytest.mark.parametrize("lost", ["cut", "terminated"])
async def test_a_transaction_whose_connection_goes_says_so_wherever_it_was(hands, lost):
    await hands.enqueue(new_job(), new_job(lane="other"))
    seen = []
    for loops in range(1, 40):
        connections: list = []
        working = asyncio.create_task(transact(hands, connections))
        while not connections and not working.done():  # noqa: ASYNC110  (it is the loop's turns that count)
            await asyncio.sleep(0)
        if lost == "cut":
            await cut_after(loops, connections)
        else:
            for _ in range(loops):
                await asyncio.sleep(0)
            await hands.sql(f"SELECT pg_terminate_backend({connections[0].get_server_pid()})")
        seen += await asyncio.gather(working, return_exceptions=True)

    failed = [error for error in seen if error is not None]
    assert failed
    assert {type(error) for error in failed} == {StoreUnavailable}


@pytest.mark.parametrize(
    "error", [asyncpg.InternalClientError, asyncpg.ConnectionDoesNotExistError, asyncpg.AdminShutdownError]
)
async def test_what_the_driver_says_of_a_lost_connection_is_translated_even_before_it_notices(hands, monkeypatch, error):
    connections: list = []
    with monkeypatch.context() as patched:
        patched.setattr(asyncpg.Connection, "fetch", _raising(error("between two messages")))
        with pytest.raises(StoreUnavailable, match="rolled back"):
            await transact(hands, connections)
    assert connections[0].is_closed()


def _raising(error):
    async def fetch(*_):
        raise error

    return fetch


async def test_an_error_of_the_callers_own_stays_what_it_is(hands):
    with pytest.raises(ConnectionRefusedError, match="the shop"):
        async with hands.store.transaction():
            raise ConnectionRefusedError("the shop does not answer")


async def test_a_commit_counts_even_if_the_connection_goes_right_after_it(hands, monkeypatch):
    job = new_job()
    async with hands.store.transaction() as tx:
        await tx.insert_jobs([job])
        reset = tx.connection.reset

        async def cut_and_reset() -> None:
            tx.connection._transport.abort()
            await reset()

        monkeypatch.setattr(type(tx.connection), "reset", lambda self: cut_and_reset())

    assert (await hands.job(job.id)).id == job.id


async def test_a_connection_that_broke_is_not_handed_out_again(hands):
    async def breaking(connections: list) -> None:
        async with hands.store.transaction() as tx:
            connections.append(tx.connection)
            tx.connection._transport.abort()
            await tx.fetch_sql("SELECT 1")

    broken: list = []
    with pytest.raises(StoreUnavailable):
        await breaking(broken)
    async with hands.store.transaction() as tx:
        assert tx.connection is not broken[0]
        assert (await tx.fetch_sql("SELECT 1 AS one"))[0]["one"] == 1

"""The stack of connections: who asks first is served first, and a broken connection is nobody's problem."""

import asyncio

import asyncpg
import pytest

from tests.contracts.stores import PATIENCE
from towpath.store.postgres.pool import Pool


class Wire:
    """As much of a connection as the pool looks at."""

    def __init__(self) -> None:
        self.closed = False

    def is_closed(self) -> bool:
        return self.closed

    def terminate(self) -> None:
        self.closed = True

    async def close(self, timeout: float) -> None:
        self.closed = True


class Wires:
    def __init__(self) -> None:
        self.made: list[Wire] = []
        self.refuse = False

    async def __call__(self) -> Wire:
        await asyncio.sleep(0)
        if self.refuse:
            raise ConnectionRefusedError
        self.made.append(Wire())
        return self.made[-1]


@pytest.fixture
def wires() -> Wires:
    return Wires()


@pytest.fixture
def pool(wires) -> Pool:
    return Pool(wires, 2)


async def test_a_connection_that_rests_is_used_again(pool, wires):
    first = await pool.take()
    pool.give_back(first)
    assert await pool.take() is first
    assert len(wires.made) == 1


async def test_there_are_never_more_connections_than_allowed(pool, wires):
    async def use() -> None:
        connection = await pool.take()
        await asyncio.sleep(0)
        pool.give_back(connection)

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(use() for _ in range(20)))
    assert len(wires.made) == 2


async def test_those_who_wait_are_served_in_the_order_of_asking(pool):
    held = [await pool.take(), await pool.take()]
    assert pool.exhausted
    served: list[int] = []

    async def wait(number: int) -> None:
        connection = await pool.take()
        served.append(number)
        pool.give_back(connection)

    waiting = [asyncio.create_task(wait(number)) for number in range(4)]
    await asyncio.sleep(0)
    for connection in held:
        pool.give_back(connection)
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*waiting)
    assert sorted(served) == [0, 1, 2, 3]
    assert served[0] == 0


async def test_a_turn_that_is_given_up_goes_to_the_next(pool):
    held = [await pool.take(), await pool.take()]
    first, second = asyncio.create_task(pool.take()), asyncio.create_task(pool.take())
    await asyncio.sleep(0)
    pool.give_back(held[0])
    first.cancel()
    async with asyncio.timeout(PATIENCE):
        assert await second is held[0]


async def test_a_connection_that_broke_makes_room_for_a_new_one(pool, wires):
    held = [await pool.take(), await pool.take()]
    waiting = asyncio.create_task(pool.take())
    await asyncio.sleep(0)
    held[0].closed = True
    pool.give_back(held[0])
    async with asyncio.timeout(PATIENCE):
        assert await waiting is wires.made[2]


async def test_one_that_broke_while_it_rested_is_not_handed_out(pool):
    first = await pool.take()
    pool.give_back(first)
    first.closed = True
    assert await pool.take() is not first


async def test_a_dropped_connection_is_closed_and_makes_room(pool):
    held = [await pool.take(), await pool.take()]
    pool.drop(held[0])
    assert held[0].closed
    async with asyncio.timeout(PATIENCE):
        assert await pool.take() not in held


async def test_a_server_that_refuses_leaves_the_place_free(pool, wires):
    wires.refuse = True
    for _ in range(5):
        with pytest.raises(ConnectionRefusedError):
            await pool.take()
    wires.refuse = False
    async with asyncio.timeout(PATIENCE):
        await pool.take()
        await pool.take()


async def test_closing_refuses_those_who_wait_and_closes_what_comes_back(pool):
    held = [await pool.take(), await pool.take()]
    waiting = asyncio.create_task(pool.take())
    await asyncio.sleep(0)
    await pool.close()
    with pytest.raises(asyncpg.InterfaceError):
        await waiting
    pool.give_back(held[0])
    assert held[0].closed


async def test_a_cancelled_caller_leaves_no_half_read_connection_behind(postgres_url):
    from tests.contracts.stores import opened

    async with opened(postgres_url, pool_size=1) as hands:
        asleep = asyncio.create_task(hands.sql("SELECT pg_sleep(30)::text AS done"))
        while not await _sleeping(postgres_url):  # noqa: ASYNC110  (the server sets no event of ours)
            await asyncio.sleep(0.02)
        asleep.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asleep
        async with asyncio.timeout(PATIENCE):
            assert (await hands.sql("SELECT 1 AS one"))[0]["one"] == 1


async def _sleeping(url: str) -> bool:
    connection = await asyncpg.connect(url)
    try:
        return bool(
            await connection.fetchval(
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'"
            )
        )
    finally:
        await connection.close()

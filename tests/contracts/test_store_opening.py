"""Opening and closing: both may be done twice, and a store that is not open says so whatever it is asked."""

import asyncio

import pytest

from tests.contracts.stores import PATIENCE, Hands, new_job
from tests.contracts.streams import stream_start
from towpath.config import Settings
from towpath.core import transitions
from towpath.core.errors import StoreUnavailable
from towpath.core.ids import uuid7
from towpath.store.migrating import ENGINE, migrate
from towpath.wiring import make_store


async def ask_for_everything(hands: Hands):
    async def own():
        async with hands.store.transaction():
            pass

    yield hands.store.enqueue([new_job()])
    yield hands.store.enqueue([new_job(), new_job()])
    yield hands.claim()
    yield hands.settle(transitions.succeed(uuid7(), 1, None, solo=True))
    yield hands.apply(transitions.cancel(uuid7()))
    yield hands.jobs(uuid7())
    yield hands.store.advance("q", {1: 1.0})
    yield stream_start(hands.store)
    yield own()


@pytest.mark.parametrize("opened_before", [True, False])
async def test_a_store_that_is_not_open_says_so(database_url, opened_before):
    store = make_store(database_url, Settings())
    if opened_before:
        await store.open()
        await migrate(store, [ENGINE])
        await store.close()
    async with asyncio.timeout(PATIENCE):
        async for asked in ask_for_everything(Hands(store)):
            with pytest.raises(StoreUnavailable, match="closed"):
                await asked


async def test_opening_and_closing_twice_is_harmless(database_url):
    store = make_store(database_url, Settings())
    await store.close()
    await store.open()
    await store.open()
    await migrate(store, [ENGINE])
    assert await Hands(store).enqueue() is not None
    await store.close()
    await store.close()


async def test_a_store_can_be_opened_again(database_url):
    store = make_store(database_url, Settings())
    for number in range(2):
        await store.open()
        await migrate(store, [ENGINE])
        await Hands(store).enqueue()
        assert await Hands(store).count("job") == number + 1
        await store.close()

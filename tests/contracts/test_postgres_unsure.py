"""A success whose commit came through and whose answer was lost: sent again, it is recognised, and nobody is alarmed."""

import pytest

from tests.chaos.proxy import Proxy
from tests.contracts.stores import opened
from towpath.core import transitions
from towpath.core.lifecycle import State
from towpath.store.contract import UNDECIDED, Claim

MARK = b"the paid result"


@pytest.fixture
async def proxy(postgres_url):
    async with Proxy(postgres_url) as between:
        yield between


@pytest.fixture
async def hands(proxy):
    async with opened(proxy.url) as own:
        yield own


def success(job):
    return transitions.succeed(job.id, job.attempt, f'"{MARK.decode()}"', solo=True)


async def test_a_settle_that_came_through_has_happened(proxy, hands):
    job = await hands.start()
    proxy.lose_once(MARK)
    assert await hands.settle(success(job)) == [None]
    assert proxy.lost == 1
    assert (await hands.job(job.id)).state is State.SUCCEEDED
    assert (await hands.settle(success(job)))[0] is not None  # it has been answered, and is not remembered


async def test_a_turn_that_came_through_has_happened_too(proxy, hands):
    job = await hands.start()
    proxy.lose_once(MARK)
    verdicts, _ = await hands.store.turn([success(job)], Claim("q", 1, "w", 30.0))
    assert (proxy.lost, verdicts) == (1, [UNDECIDED])  # the turn itself cannot tell
    assert await hands.settle(success(job)) == [None]


async def test_a_late_success_is_refused_as_ever(proxy, hands):
    job = await hands.start()
    await hands.settle(transitions.release(job.id, job.attempt))
    [again] = await hands.claim(1)
    proxy.lose_once(MARK)
    assert (await hands.settle(success(job)))[0] is not None
    assert proxy.lost == 1
    assert await hands.settle(success(again)) == [None]
    assert (await hands.settle(success(again)))[0] is not None  # nobody was unsure about this one


async def test_a_success_of_another_attempt_is_not_taken_for_ones_own(proxy, hands):
    job = await hands.start()
    await hands.settle(transitions.release(job.id, job.attempt))
    [again] = await hands.claim(1)
    assert await hands.settle(success(again)) == [None]
    proxy.lose_once(MARK)
    assert (await hands.settle(success(job)))[0] is not None
    assert proxy.lost == 1

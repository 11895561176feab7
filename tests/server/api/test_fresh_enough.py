"""Figures that many people look at are made at most once a second, and once for all who ask meanwhile."""

import asyncio

import pytest

from towpath import App
from towpath.server import counts


@pytest.fixture
def app(tmp_path) -> App:
    return App(f"sqlite:///{tmp_path}/unused.db")


async def test_all_who_ask_at_once_get_the_same_answer(app: App):
    made = []

    async def make() -> int:
        await asyncio.sleep(0)
        made.append(1)
        return len(made)

    answers = await asyncio.gather(*[counts.at_most_once_a_second(app, "x", make) for _ in range(20)])
    assert (set(answers), made) == ({1}, [1])
    assert await counts.at_most_once_a_second(app, "other", make) == 2
    counts.forget(app)
    assert await counts.at_most_once_a_second(app, "x", make) == 3


async def test_an_old_answer_is_made_anew(app: App, monkeypatch):
    made = []

    async def make() -> int:
        made.append(1)
        return len(made)

    assert await counts.at_most_once_a_second(app, "x", make) == 1
    monkeypatch.setattr(counts, "_FRESH", 0.0)
    assert await counts.at_most_once_a_second(app, "x", make) == 2


async def test_a_failure_is_not_kept(app: App):
    async def fail() -> int:
        raise ValueError("not now")

    async def make() -> int:
        return 7

    with pytest.raises(ValueError, match="not now"):
        await counts.at_most_once_a_second(app, "x", fail)
    assert await counts.at_most_once_a_second(app, "x", make) == 7


async def test_one_who_goes_away_takes_nothing_from_the_others(app: App):
    gate = asyncio.Event()

    async def make() -> int:
        await gate.wait()
        return 7

    first = asyncio.create_task(counts.at_most_once_a_second(app, "x", make))
    second = asyncio.create_task(counts.at_most_once_a_second(app, "x", make))
    await asyncio.sleep(0)
    first.cancel()
    gate.set()
    assert await second == 7


async def test_one_that_takes_long_is_not_begun_a_second_time(app: App, monkeypatch):
    monkeypatch.setattr(counts, "_FRESH", 0.0)
    gate, begun = asyncio.Event(), []

    async def make() -> int:
        begun.append(1)
        await gate.wait()
        return len(begun)

    asking = [asyncio.create_task(counts.at_most_once_a_second(app, "x", make)) for _ in range(5)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.gather(*asking) == [1] * 5


async def test_many_kinds_of_answers_do_not_push_out_one_that_is_being_made(app: App, monkeypatch):
    monkeypatch.setattr(counts, "_MOST_KEPT", 3)
    gate, begun = asyncio.Event(), []

    async def make() -> int:
        begun.append(1)
        await gate.wait()
        return len(begun)

    async def quick() -> int:
        return 0

    first = asyncio.create_task(counts.at_most_once_a_second(app, "x", make))
    await asyncio.sleep(0)
    for number in range(10):
        await counts.at_most_once_a_second(app, number, quick)
    second = asyncio.create_task(counts.at_most_once_a_second(app, "x", make))
    await asyncio.sleep(0)
    gate.set()
    assert (await first, await second) == (1, 1)

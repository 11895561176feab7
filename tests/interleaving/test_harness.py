"""The harness itself: it walks every order, sees who waits for a lock, and does not hide what goes wrong."""

import asyncio
from itertools import permutations

import pytest

from tests.interleaving.harness import Director, Stuck
from tests.interleaving.orders import Orders
from tests.interleaving.scene import Scene
from tests.interleaving.stage import Stage
from towpath.core.failpoints import reach
from towpath.store.contract import Tx


async def nobody_waits() -> int:
    return 0


async def every_trace(steps: dict[str, int]) -> list[list[str]]:
    """Toy actors that append their name, once before each of their points and once at the end."""
    orders, traces = Orders(), []
    while True:
        said: list[str] = []

        async def act(name: str, times: int, said: list[str] = said) -> None:
            for _ in range(times):
                said.append(name)
                await reach("somewhere")
            said.append(name)

        director = Director(orders.choose, nobody_waits)
        await director.perform({name: (lambda n=name, t=times: act(n, t)) for name, times in steps.items()})
        traces.append(said)
        if not orders.next():
            return traces


async def test_every_order_of_two_actors_is_played_once() -> None:
    traces = await every_trace({"a": 2, "b": 1})
    assert sorted(map(tuple, traces)) == sorted(set(permutations("aaabb")))


async def test_every_order_of_three_actors_is_played_once() -> None:
    traces = await every_trace({"a": 1, "b": 1, "c": 0})
    assert sorted(map(tuple, traces)) == sorted(set(permutations("aabbc")))


async def test_an_actor_that_goes_nowhere_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.interleaving.harness._PATIENCE", 0.05)
    director = Director(Orders().choose, nobody_waits)
    with pytest.raises(Stuck, match="sleeper got nowhere after: sleeper from the start"):
        await director.perform({"sleeper": asyncio.Event().wait})


async def test_points_are_free_again_after_a_performance(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.together(one=scene.enqueue(scene.new()))

    await stage.every_order(play)
    async with asyncio.timeout(1):
        await reach("tx.commit")


async def test_an_actor_behind_a_row_lock_waits_while_the_other_goes_on(postgres_stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job_id = await scene.add()
        said: list[str] = []

        async def lock(name: str, tx: Tx) -> None:
            await tx.jobs("lock_jobs", ids=[job_id])
            said.append(f"{name} has it")
            await reach("holding")
            said.append(f"{name} lets go")

        await scene.together(
            one=lambda: scene.store.run(lambda tx: lock("one", tx)), two=lambda: scene.store.run(lambda tx: lock("two", tx))
        )
        assert said[0][:3] == said[1][:3] != said[2][:3] == said[3][:3]

    scenes = await postgres_stage.every_order(play)
    assert any(scene.waited for scene in scenes)
    assert not all(scene.waited for scene in scenes)


async def test_a_failing_order_is_named(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.together(one=scene.enqueue(scene.new()))
        assert await scene.jobs() == []

    with pytest.raises(AssertionError) as caught:
        await stage.every_order(play)
    assert caught.value.__notes__ == ["in the order: one from the start"]

"""Jobs that one tenant adds in parallel stand one behind the other, so together they take one share."""

from tests.interleaving.scene import Scene
from tests.interleaving.stage import Stage


async def places(scene: Scene) -> list[float]:
    return sorted(job.pass_ for job in await scene.jobs() if job.ready)


async def test_two_bulk_enqueues_of_one_tenant_never_get_the_same_places(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        bulks = [[scene.new(operation=f"work {n}") for n in range(3)] for _ in range(2)]
        await scene.together(one=scene.insert(*bulks[0]), other=scene.enqueue(*bulks[1]))
        assert await places(scene) == [1, 2, 3, 4, 5, 6]

    scenes = await stage.every_order(play)
    assert stage.pauses_inside == any(scene.waited for scene in scenes)


async def test_bulk_enqueues_of_two_tenants_do_not_wait_for_each_other(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        bulks = [[scene.new(lane=lane) for _ in range(2)] for lane in ("a", "b")]
        await scene.together(a=scene.insert(*bulks[0]), b=scene.insert(*bulks[1]))
        assert await places(scene) == [1, 1, 2, 2]

    scenes = await stage.every_order(play)
    assert not any(scene.waited for scene in scenes)


async def test_bulks_over_the_same_lanes_in_opposite_order_wait_without_a_deadlock(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        there, back = ([scene.new(lane=lane) for lane in lanes] for lanes in ("abc", "cba"))
        await scene.together(there=scene.insert(*there), back=scene.insert(*back))
        assert await places(scene) == [1, 1, 1, 2, 2, 2]

    scenes = await stage.every_order(play)
    assert not any(scene.again for scene in scenes)


async def test_two_parents_of_one_tenant_that_fan_out_at_once_take_one_share(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        one, other = await scene.running(), await scene.running()
        taken = max(one.pass_, other.pass_)
        await scene.together(one=scene.spawn(one, 3), other=scene.spawn(other, 3))
        found = await places(scene)
        assert len(set(found)) == 6, f"children of both stand at the same places: {found} (parents at {taken})"

    await stage.every_order(play)

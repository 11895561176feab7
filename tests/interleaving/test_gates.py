"""Capped lanes: the gate lets no more through than the cap has room for, and forgets nobody."""

import pytest

from tests.interleaving.scene import Scene
from tests.interleaving.stage import RELATIVES, Stage
from towpath.engine.tending import janitor

# The lane's row stays locked from `gate.locked` on, so a stop at `gate.counted` shows everything that one there would;
# who is related to whom, and in whose turn bulks go, is not what these tests are about.
DETOURS = RELATIVES | {"gate.locked", "enqueue.locked"}


async def occupied(scene: Scene) -> int:
    return sum(job.ready or job.leased for job in await scene.jobs())


async def parked(scene: Scene) -> int:
    return sum(job.parked for job in await scene.jobs())


async def test_an_enqueue_and_a_gate_fill_the_lane_exactly_to_its_cap(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.set_lane(max_slots=2)()
        await scene.add()
        await scene.together(enqueue=scene.enqueue(scene.new()), gate=scene.gate())
        assert (await occupied(scene), await parked(scene)) == (2, 0)

    await stage.every_order(play, pass_by=DETOURS)


async def test_two_enqueues_into_one_free_slot_take_it_once(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.set_lane(max_slots=1)()
        await scene.together(one=scene.enqueue(scene.new()), other=scene.enqueue(scene.new()))
        assert (await occupied(scene), await parked(scene)) == (1, 1)

    await stage.every_order(play, pass_by=DETOURS)


async def test_two_bulk_enqueues_into_a_capped_lane_stay_within_its_cap(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.set_lane(max_slots=3)()
        bulks = [[scene.new() for _ in range(2)] for _ in range(2)]
        await scene.together(one=scene.enqueue(*bulks[0]), other=scene.enqueue(*bulks[1]))
        assert (await occupied(scene), await parked(scene)) == (3, 1)

    await stage.every_order(play, pass_by=DETOURS)


async def _two_free_slots_with_parked_jobs(scene: Scene) -> None:
    await scene.set_lane(max_slots=0)()
    for _ in range(4):
        await scene.add()
    # The cap is raised behind the gate's back, so that both gates of the scene find the same free slots.
    table = "towpath_lane" if scene.store.dialect == "sqlite" else "towpath.lane"
    mark = "?" if scene.store.dialect == "sqlite" else "$1"
    await scene.store.run(lambda tx: tx.execute_sql(f"UPDATE {table} SET max_slots = 2 WHERE queue = {mark}", scene.queue))


async def gate_against_gate(scene: Scene) -> None:
    await _two_free_slots_with_parked_jobs(scene)
    done = await scene.together(one=scene.gate(), other=scene.gate())
    assert sorted(done.values()) == [0, 2]
    assert (await occupied(scene), await parked(scene)) == (2, 2)


async def test_two_gates_of_one_lane_never_count_the_same_free_slot(stage: Stage) -> None:
    scenes = await stage.every_order(gate_against_gate, pass_by=DETOURS)
    assert stage.pauses_inside == any(scene.waited for scene in scenes)


async def test_a_settle_and_a_gate_give_the_freed_slot_away_once(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.set_lane(max_slots=1)()
        job = await scene.running()
        for _ in range(2):
            await scene.add()
        await scene.together(settle=scene.succeed(job), gate=scene.gate())
        assert (await occupied(scene), await parked(scene)) == (1, 1)

    await stage.every_order(play, pass_by=DETOURS)


async def test_two_settles_in_a_capped_lane_let_two_more_in(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.set_lane(max_slots=2)()
        for _ in range(5):
            await scene.add()
        one, other = await scene.claim(2)
        await scene.together(one=scene.succeed(one), other=scene.succeed(other))
        assert (await occupied(scene), await parked(scene)) == (2, 1)

    await stage.every_order(play, pass_by=DETOURS)


async def test_a_parked_job_that_is_cancelled_while_its_gate_opens_leaves_the_slot_to_the_next(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.set_lane(max_slots=1)()
        job = await scene.running()
        first, second = await scene.add(), await scene.add()
        done = await scene.together(settle=scene.succeed(job), cancel=scene.cancel(first))
        assert list(done.values()) == [[None], [None]]
        await scene.gate()()  # what the janitor does every second: the gate skips rows that somebody is changing
        assert (await scene.job(second)).ready

    await stage.every_order(play, pass_by=DETOURS)


async def test_a_claim_takes_only_what_the_gate_has_let_through(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await _two_free_slots_with_parked_jobs(scene)
        done = await scene.together(gate=scene.gate(), claim=scene.claiming(10, "worker"))
        assert len(done["claim"]) in (0, 2)
        assert (await occupied(scene), await parked(scene)) == (2, 2)

    await stage.every_order(play, pass_by=DETOURS)


async def test_a_cap_set_while_a_job_is_enqueued_holds_for_that_job_too(stage: Stage) -> None:
    """The enqueue saw no cap; the next look of the janitor puts the job behind the gate all the same."""

    async def play(scene: Scene) -> None:
        job = await scene.running()
        done = await scene.together(enqueue=scene.enqueue(scene.new(), scene.new()), cap=scene.set_lane(max_slots=1))
        assert not [value for value in done.values() if isinstance(value, Exception)]
        await janitor.gate_all(scene.services)
        assert (await occupied(scene), await parked(scene)) == (1, 2)
        await scene.succeed(job)()
        assert (await occupied(scene), await parked(scene)) == (1, 1)

    await stage.every_order(play, pass_by=DETOURS)


async def test_a_cap_on_open_roots_set_while_a_root_is_enqueued_holds_for_that_root_too(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.running()
        await scene.together(enqueue=scene.enqueue(scene.new(), scene.new()), cap=scene.set_lane(max_roots=2))
        await janitor.gate_all(scene.services)
        assert (await occupied(scene), await parked(scene)) == (2, 1)

    await stage.every_order(play, pass_by=DETOURS)


async def test_a_cap_lifted_while_a_job_is_enqueued_leaves_nobody_behind_the_gate(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.set_lane(max_slots=1)()
        await scene.running()
        await scene.together(enqueue=scene.enqueue(scene.new(), scene.new()), lift=scene.set_lane())
        assert (await occupied(scene), await parked(scene)) == (3, 0)

    await stage.every_order(play, pass_by=DETOURS)


async def test_a_cap_changed_while_a_job_of_the_lane_ends_surfaces_no_deadlock(stage: Stage) -> None:
    """The settle goes from the job to the lane, the new cap from the lane to its jobs."""

    async def play(scene: Scene) -> None:
        await scene.set_lane(max_slots=1)()
        job = await scene.running()
        for _ in range(2):
            await scene.add()
        done = await scene.together(settle=scene.succeed(job), cap=scene.set_lane(max_roots=2))
        assert done == {"settle": [None], "cap": None}
        assert (await occupied(scene), await parked(scene)) == (2, 0)

    await stage.every_order(play, pass_by=DETOURS)


async def test_a_cap_lifted_while_a_parked_job_is_cancelled_surfaces_no_deadlock(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.set_lane(max_slots=0)()
        first, second = await scene.add(), await scene.add()
        done = await scene.together(cancel=scene.cancel(second), lift=scene.set_lane())
        assert done == {"cancel": [None], "lift": None}
        assert (await scene.job(first)).ready
        assert (await scene.job(second)).state == "cancelled"

    await stage.every_order(play, pass_by=DETOURS)


async def test_two_roots_that_end_at_once_open_the_door_for_two_more(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.set_lane(max_roots=2)()
        for _ in range(5):
            await scene.add()
        one, other = await scene.claim(10)
        await scene.together(one=scene.succeed(one), other=scene.succeed(other))
        assert (await occupied(scene), await parked(scene)) == (2, 1)

    await stage.every_order(play, pass_by=DETOURS)


async def test_a_lane_that_changes_from_slots_to_roots_keeps_the_children_of_open_roots_moving(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.set_lane(max_slots=2)()
        parent = await scene.running(operation="parent")
        await scene.fan_out(parent, 3, awaited=False)
        [child] = await scene.claim(10)
        await scene.settle(scene.closing(parent))()
        await scene.together(child=scene.succeed(child), roots=scene.set_lane(max_roots=1))
        assert await parked(scene) == 0

    await stage.every_order(play, pass_by=DETOURS)


@pytest.mark.parametrize("workers", [2, 3])
async def test_claims_from_a_capped_queue_never_pass_its_cap(stage: Stage, workers: int) -> None:
    async def play(scene: Scene) -> None:
        await scene.app.queues.cap(scene.queue, 2)
        scene.store._caps_until = float("-inf")  # the cap is remembered for a second, and every order has a queue of its own
        for _ in range(4):
            await scene.add()
        done = await scene.together(**{f"w{n}": scene.claiming(2, f"w{n}") for n in range(workers)})
        assert sum(len(jobs) for jobs in done.values()) == 2

    await stage.every_order(play, pass_by=DETOURS)

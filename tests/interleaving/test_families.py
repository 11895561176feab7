"""Parents and children that move at the same moment. Settling goes upwards, cancelling goes downwards."""

from tests.interleaving.scene import Scene
from tests.interleaving.stage import NOTHING, RELATIVES, Stage
from towpath.core import transitions
from towpath.store.contract import Claimed


async def test_when_the_last_two_children_end_at_once_one_of_them_closes_the_parent(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent, [one, other] = await scene.family(2)
        done = await scene.together(one=scene.succeed(one), other=scene.succeed(other))
        assert list(done.values()) == [[None], [None]]
        row = await scene.job(parent.id)
        assert (row.state, row.children_ok) == ("succeeded", 2)
        assert await scene.named(parent.id, "job.succeeded") == 1

    await stage.every_order(play, pass_by=NOTHING)


async def test_when_the_last_two_awaited_children_end_at_once_the_parent_resumes_once(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent, [one, other] = await scene.family(2, awaited=True)
        await scene.together(one=scene.succeed(one), other=scene.fail(other))
        row = await scene.job(parent.id)
        assert (row.state, row.ready, row.children_ok, row.children_bad) == ("queued", True, 1, 1)
        assert await scene.named(parent.id, "job.resumed") == 1

    await stage.every_order(play, pass_by=NOTHING)


async def test_a_child_that_ends_while_its_parent_is_cancelled_is_counted_once(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent, [child, _] = await scene.family(2)
        done = await scene.together(child=scene.succeed(child), cancel=scene.cancel(parent.id))
        assert done["cancel"] == [None]
        row = await scene.job(parent.id)
        assert row.state == "cancelled"
        assert row.children_ok == (done["child"] == [None])
        assert row.children_open == 0

    scenes = await stage.every_order(play, pass_by=NOTHING)
    assert stage.pauses_inside == any(scene.waited for scene in scenes)


async def test_two_children_and_a_cancel_of_their_parent_in_any_order(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent, [one, other] = await scene.family(2)
        done = await scene.together(one=scene.succeed(one), other=scene.succeed(other), cancel=scene.cancel(parent.id))
        row = await scene.job(parent.id)
        assert row.children_ok == [done["one"], done["other"]].count([None])
        assert row.state == ("cancelled" if done["cancel"] == [None] else "succeeded")
        assert (row.state == "succeeded") <= (row.children_ok == 2)

    await stage.every_order(play, pass_by=RELATIVES)


async def test_a_parent_that_is_cancelled_while_it_spawns_leaves_no_live_child(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent = await scene.running(operation="parent")
        done = await scene.together(spawn=scene.spawn(parent, 2), cancel=scene.cancel(parent.id))
        assert done["cancel"] == [None]
        children = [job for job in await scene.jobs() if job.parent_id == parent.id]
        assert [child.state.value for child in children] == (
            [] if isinstance(done["spawn"], Exception) else ["cancelled"] * 2
        )

    scenes = await stage.every_order(play, pass_by=NOTHING)
    assert stage.pauses_inside == any("cancel" in scene.waited for scene in scenes)


async def test_a_grandparent_that_is_cancelled_while_its_child_spawns_leaves_no_live_grandchild(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        top, [middle] = await scene.family(1)
        await scene.together(spawn=scene.spawn(middle, 1), cancel=scene.cancel(top.id))
        assert {job.state.value for job in await scene.jobs()} == {"cancelled"}

    await stage.every_order(play, pass_by=NOTHING)


async def test_a_parent_that_fails_while_its_child_ends_is_ended_once(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent = await scene.running(operation="parent")
        await scene.fan_out(parent, 2, awaited=False)
        child, _ = await scene.claim(2)
        done = await scene.together(child=scene.succeed(child), fail=scene.fail(parent))
        assert done["fail"] == [None]
        row = await scene.job(parent.id)
        assert (row.state, row.children_ok) == ("failed", int(done["child"] == [None]))
        assert await scene.named(parent.id, "job.failed", "job.succeeded", "job.partial") == 1

    await stage.every_order(play, pass_by=NOTHING)


async def test_a_closing_parent_whose_deadline_passes_while_its_last_child_ends_is_ended_once(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent, [child] = await scene.family(1)
        await scene.let_time_pass()
        await scene.together(child=scene.succeed(child), expire=scene.expire())
        assert await scene.named(parent.id, "job.failed", "job.succeeded", "job.partial") == 1
        row, leaf = await scene.job(parent.id), await scene.job(child.id)
        assert (row.state, leaf.state) in {("succeeded", "succeeded"), ("failed", "cancelled")}

    await stage.every_order(play, pass_by=NOTHING)


async def test_a_waiting_parent_whose_deadline_passes_is_failed_without_being_resumed(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent, [child] = await scene.family(1, awaited=True)
        await scene.let_time_pass()
        await scene.together(child=scene.succeed(child), expire=scene.expire())
        row = await scene.job(parent.id)
        assert row.state in {"queued", "failed"}
        assert await scene.named(parent.id, "job.resumed", "job.failed") == 1

    await stage.every_order(play, pass_by=NOTHING)


async def _one_failed_child(scene: Scene) -> tuple[Claimed, Claimed, Claimed]:
    parent, [bad, good] = await scene.family(2)
    await scene.fail(bad)()
    return parent, bad, good


async def test_a_child_that_is_requeued_while_the_last_one_ends_keeps_or_gets_its_parent_open(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent, bad, good = await _one_failed_child(scene)
        done = await scene.together(last=scene.succeed(good), requeue=scene.requeue(bad.id))
        assert list(done.values()) == [[None], [None]]
        row = await scene.job(parent.id)
        assert (row.state, row.children_ok, row.children_bad) == ("waiting", 1, 0)

    await stage.every_order(play, pass_by=NOTHING)


async def test_a_child_that_is_requeued_while_its_parent_is_settled_is_awaited_or_reopens_it(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent = await scene.running(operation="parent")
        await scene.fan_out(parent, 1, awaited=True)
        [child] = await scene.claim()
        await scene.fail(child)()
        done = await scene.together(parent=scene.succeed(parent), requeue=scene.requeue(child.id))
        assert list(done.values()) == [[None], [None]]
        assert (await scene.job(parent.id)).state == "waiting"

    await stage.every_order(play, pass_by=NOTHING)


async def test_a_child_and_its_parent_requeued_at_once_both_start_over_once(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent, [child] = await scene.family(1)
        await scene.fail(child)()
        assert (await scene.job(parent.id)).state == "failed"
        done = await scene.together(child=scene.requeue(child.id), parent=scene.requeue(parent.id))
        assert [None] in done.values()
        row, leaf = await scene.job(parent.id), await scene.job(child.id)
        assert (row.state, leaf.state, row.children_open) == ("waiting", "queued", 1)

    await stage.every_order(play, pass_by=NOTHING)


async def test_a_requeued_child_and_a_cancel_of_its_parent_leave_nothing_half_alive(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent, bad, _ = await _one_failed_child(scene)
        done = await scene.together(requeue=scene.requeue(bad.id), cancel=scene.cancel(parent.id))
        assert done["cancel"] == [None]
        assert (await scene.job(bad.id)).state == ("cancelled" if done["requeue"] == [None] else "failed")

    await stage.every_order(play, pass_by=NOTHING)


async def test_parent_and_child_cancelled_at_once_are_each_cancelled_once(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent, [child, _] = await scene.family(2)
        done = await scene.together(child=scene.cancel(child.id), parent=scene.cancel(parent.id))
        assert done["parent"] == [None]
        assert await scene.named(child.id, "job.cancelled") == 1
        assert await scene.named(parent.id, "job.cancelled") == 1

    await stage.every_order(play, pass_by=NOTHING)


async def test_a_batch_of_children_from_two_families_settles_against_both_cancels(stage: Stage) -> None:
    """One commit carries the settles of many jobs, so it locks several families at once."""

    async def play(scene: Scene) -> None:
        mum, [ann] = await scene.family(1)
        dad, [bob] = await scene.family(1)
        batch = scene.settle(*(transitions.succeed(job.id, job.attempt, None) for job in (bob, ann)))
        both = scene.apply(transitions.cancel(dad.id), transitions.cancel(mum.id))
        done = await scene.together(batch=batch, cancel=both)
        for parent, settled in ((mum, done["batch"][1]), (dad, done["batch"][0])):
            assert (await scene.job(parent.id)).state == ("succeeded" if settled is None else "cancelled")

    await stage.every_order(play, pass_by=NOTHING)


async def test_a_child_requeued_from_an_earlier_fan_out_still_closes_its_parent(stage: Stage) -> None:
    """The parent has gathered one group and then closed with another: the last child closes it, whichever it is of."""

    async def play(scene: Scene) -> None:
        parent = await scene.running(operation="parent")
        await scene.fan_out(parent, 1, awaited=True, group="first")
        [early] = await scene.claim()
        await scene.fail(early)()
        await scene.fan_out(parent, 1, awaited=False, group="second")
        await scene.settle(scene.closing(parent))()
        await scene.requeue(early.id)()
        early, late = sorted(await scene.claim(2), key=lambda job: job.id)
        await scene.together(early=scene.succeed(early), late=scene.succeed(late))
        assert (await scene.job(parent.id)).state == "succeeded"

    await stage.every_order(play, pass_by=NOTHING)

"""A queued job's priority is changed while a worker takes it, while it is cancelled, and twice at once."""

from tests.interleaving.scene import Scene
from tests.interleaving.stage import Stage
from towpath.core.errors import NotRequeueable
from towpath.engine.changing.priorities import reprioritize


async def test_a_job_is_moved_or_claimed_and_never_lost(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job_id = await scene.add()
        other = await scene.add()
        done = await scene.together(move=lambda: reprioritize(scene.store, job_id, 3), claim=scene.claiming(1, "worker"))
        row, claimed = await scene.job(job_id), [job.id for job in done["claim"]]
        if isinstance(done["move"], NotRequeueable):
            assert (claimed, row.state, row.priority) == ([job_id], "running", 1)
        else:
            assert row.priority == 3
            rest = [job.id for job in await scene.claim(5)]
            assert sorted([*claimed, *rest]) == sorted([job_id, other])

    await stage.every_order(play)


async def test_a_cancelled_job_is_not_brought_back_by_a_new_priority(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job_id = await scene.add()
        await scene.together(move=lambda: reprioritize(scene.store, job_id, 0), cancel=scene.cancel(job_id))
        row = await scene.job(job_id)
        assert (row.state, row.ready) == ("cancelled", False)
        assert await scene.claim(5) == []

    await stage.every_order(play)


async def test_of_two_new_priorities_one_is_the_last_word(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job_id = await scene.add()
        await scene.together(
            one=lambda: reprioritize(scene.store, job_id, 0), other=lambda: reprioritize(scene.store, job_id, 3)
        )
        row = await scene.job(job_id)
        assert (row.priority in (0, 3), row.ready, row.seq) == (True, True, 3)

    await stage.every_order(play)

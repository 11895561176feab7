"""Two ways to move one job at the same moment: exactly one of them counts, and a late word is refused."""

from tests.interleaving.scene import BROKEN, Scene
from tests.interleaving.stage import Stage
from towpath.core import transitions
from towpath.store import ledger


def winners(done: dict[str, object]) -> list[str]:
    return [name for name, verdict in done.items() if verdict == [None]]


async def test_of_a_settle_and_a_cancel_exactly_one_wins(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        done = await scene.together(settle=scene.succeed(job), cancel=scene.cancel(job.id))
        [winner] = winners(done)
        assert (await scene.job(job.id)).state == {"settle": "succeeded", "cancel": "cancelled"}[winner]

    await stage.every_order(play)


async def test_of_a_failure_and_a_cancel_exactly_one_wins(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        done = await scene.together(fail=scene.fail(job), cancel=scene.cancel(job.id))
        [winner] = winners(done)
        assert (await scene.job(job.id)).state == {"fail": "failed", "cancel": "cancelled"}[winner]

    scenes = await stage.every_order(play)
    assert stage.pauses_inside == any(scene.waited for scene in scenes)


async def test_a_job_that_is_cancelled_while_it_is_handed_back_for_a_retry_stays_cancelled(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        retry = scene.settle(transitions.retry(job.id, job.attempt, BROKEN, delay=60.0))
        done = await scene.together(retry=retry, cancel=scene.cancel(job.id))
        assert done["cancel"] == [None]
        row = await scene.job(job.id)
        assert (row.state, row.run_at, row.ready) == ("cancelled", None, False)

    await stage.every_order(play)


async def test_a_job_that_is_claimed_while_it_is_cancelled_runs_for_nobody_or_is_cancelled_under_lease(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job_id = await scene.add()
        done = await scene.together(claim=scene.claiming(1, "worker"), cancel=scene.cancel(job_id))
        assert done["cancel"] == [None]
        row = await scene.job(job_id)
        assert row.state == "cancelled"
        assert row.leased == bool(done["claim"])

    await stage.every_order(play)


async def test_a_due_job_that_is_cancelled_while_it_falls_due_never_becomes_ready(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        await scene.settle(transitions.retry(job.id, job.attempt, BROKEN, delay=0.001))()
        await scene.let_time_pass()
        done = await scene.together(
            promote=lambda: scene.store.run(lambda tx: ledger.promote_due(tx, 10)), cancel=scene.cancel(job.id)
        )
        assert done["cancel"] == [None]
        row = await scene.job(job.id)
        assert (row.state, row.ready) == ("cancelled", False)

    await stage.every_order(play)


async def test_two_janitors_make_a_due_job_ready_once(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        await scene.settle(transitions.retry(job.id, job.attempt, BROKEN, delay=0.001))()
        await scene.let_time_pass()
        done = await scene.together(
            one=lambda: scene.store.run(lambda tx: ledger.promote_due(tx, 10)),
            other=lambda: scene.store.run(lambda tx: ledger.promote_due(tx, 10)),
        )
        assert sorted(done.values()) == [0, 1]
        assert [found.id for found in await scene.claim(10)] == [job.id]

    await stage.every_order(play)


async def test_a_zombie_cannot_settle_a_job_that_was_cancelled_and_requeued(stage: Stage) -> None:
    """A requeue starts no second handler while the first may still run: only its own word, or the lease's end, does."""

    async def play(scene: Scene) -> None:
        job = await scene.running()
        await scene.cancel(job.id)()

        async def zombie() -> list[str | None]:
            late = await scene.succeed(job, '"late"')()
            assert (await scene.job(job.id)).leased, "the job was given away before its handler said it had ended"
            await scene.settle(transitions.handler_ended(job.id, job.attempt))()
            return late

        done = await scene.together(zombie=zombie, requeue=scene.requeue(job.id))
        assert done["requeue"] == [None]
        assert isinstance(done["zombie"][0], str)
        row = await scene.job(job.id)
        assert (row.state, row.ready, row.leased, row.result) == ("queued", True, False, None)
        [again] = await scene.claim()
        assert again.attempt == job.attempt + 1

    await stage.every_order(play)


async def test_a_settle_counts_before_a_cancel_or_not_at_all_even_if_a_requeue_follows(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()

        async def user() -> tuple[list[str | None], list[str | None]]:
            return await scene.cancel(job.id)(), await scene.requeue(job.id)()

        done = await scene.together(settle=scene.succeed(job), user=user)
        cancelled, requeued = done["user"]
        state = (await scene.job(job.id)).state
        if done["settle"] == [None]:
            assert state == "succeeded"
            assert isinstance(cancelled[0], str)
            assert isinstance(requeued[0], str)
        else:
            assert (cancelled, requeued, state) == ([None], [None], "queued")

    await stage.every_order(play)


async def test_of_two_requeues_one_wins(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        await scene.fail(job)()
        done = await scene.together(one=scene.requeue(job.id), other=scene.requeue(job.id))
        assert len(winners(done)) == 1
        assert await scene.named(job.id, "job.requeued") == 1

    await stage.every_order(play)

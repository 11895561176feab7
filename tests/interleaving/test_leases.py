"""Workers, their leases, and those who think a worker is gone."""

import asyncio

from tests.interleaving.scene import Scene
from tests.interleaving.stage import Stage
from towpath.core import transitions
from towpath.core.failpoints import reach
from towpath.core.records import Step, WorkerRow
from towpath.store import journal
from towpath.store.journal import Note

GONE = -1.0  # a lease that has run out already


async def test_two_workers_never_claim_the_same_job(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        wanted = {await scene.add() for _ in range(3)}
        done = await scene.together(one=scene.claiming(2, "one"), other=scene.claiming(2, "other"))
        claimed = [job.id for jobs in done.values() for job in jobs]
        assert len(claimed) == len(set(claimed))
        assert set(claimed) == wanted

    await stage.every_order(play)


async def test_a_rescue_and_a_settle_never_both_count(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running(lease=GONE)
        done = await scene.together(settle=scene.succeed(job), rescue=scene.rescue())
        row = await scene.job(job.id)
        if done["settle"] == [None]:
            assert (done["rescue"], row.state, row.failures) == (0, "succeeded", 0)
        else:
            assert (done["rescue"], row.state, row.failures, row.result) == (1, "queued", 1, None)

    await stage.every_order(play)


async def test_two_rescuers_use_up_one_attempt(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running(lease=GONE)
        done = await scene.together(one=scene.rescue(), other=scene.rescue())
        assert sorted(done.values()) == [0, 1]
        assert (await scene.job(job.id)).failures == 1

    await stage.every_order(play)


async def test_a_rescuer_with_an_old_list_does_not_touch_the_next_attempt(stage: Stage) -> None:
    """It selected an expired lease; before it acts, another rescuer and a new worker have been there."""

    async def play(scene: Scene) -> None:
        job = await scene.running(lease=GONE)

        async def another() -> int:
            await scene.rescue()()
            return len(await scene.claim(worker="new"))

        done = await scene.together(slow=scene.rescue(), quick=another)
        row = await scene.job(job.id)
        assert row.failures == 1
        if done["quick"]:
            assert (row.state, row.worker_id, row.attempt) == ("running", "new", 2)

    await stage.every_order(play)


async def zombie_against_next_attempt(scene: Scene) -> None:
    job = await scene.running(lease=GONE)

    async def next_worker() -> list[str | None] | None:
        await scene.rescue()()
        claimed = await scene.claim(worker="next")
        await reach("working")
        return await scene.succeed(claimed[0], '"next"')() if claimed else None

    done = await scene.together(zombie=scene.succeed(job, '"zombie"'), next=next_worker)
    row = await scene.job(job.id)
    if done["next"] is None and row.state == "queued":
        # The zombie held the row's lock in the instant of the claim, which steps over locked rows: the next claim finds it.
        assert row.ready
        assert done["zombie"] != [None]
        return
    assert row.state == "succeeded"
    assert row.result == ("zombie" if done["zombie"] == [None] else "next")
    assert await scene.named(job.id, "job.succeeded") == 1
    assert done["next"] == (None if done["zombie"] == [None] else [None])


async def test_a_worker_that_lost_its_lease_cannot_finish_the_job(stage: Stage) -> None:
    await stage.every_order(zombie_against_next_attempt)


async def renewal_against_rescue(scene: Scene) -> None:
    job = await scene.running(lease=GONE)
    heart = scene.store.heart()
    row = WorkerRow("worker", "worker")
    try:
        done = await scene.together(
            renew=lambda: asyncio.to_thread(heart.beat, row, [(job.id, job.attempt)], 600.0), rescue=scene.rescue()
        )
    finally:
        await asyncio.to_thread(heart.close)
    after = await scene.job(job.id)
    if done["rescue"]:
        assert (after.state, done["renew"].lost) == ("queued", {job.id: "queued"})
    else:
        assert (after.state, done["renew"].lost) == ("running", {})


async def test_a_lease_renewed_in_time_is_not_rescued(stage: Stage) -> None:
    """Renewal and rescue go for the same row: whoever comes second sees what the first one did."""
    await stage.every_order(renewal_against_rescue)


async def test_a_step_is_recorded_before_a_rescue_or_leaves_no_trace(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running(lease=GONE)
        step = Step(job.id, "extract", "step", output_json="1")
        note = Note(job.id, job.attempt, name="step.completed", fields={"step": "extract"}, step=step)
        done = await scene.together(
            record=lambda: scene.store.run(lambda tx: journal.record(tx, [note])), rescue=scene.rescue()
        )
        assert done["rescue"] == 1
        steps = await scene.store.read(lambda tx: journal.load_steps(tx, job.id))
        assert [found.name for found in steps] == (["extract"] if done["record"] == [True] else [])
        assert await scene.named(job.id, "step.completed") == len(steps)

    await stage.every_order(play)


async def test_a_job_handed_back_at_shutdown_and_rescued_at_once_goes_back_once(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running(lease=GONE)
        release = scene.settle(transitions.release(job.id, job.attempt))
        done = await scene.together(release=release, rescue=scene.rescue())
        row = await scene.job(job.id)
        assert row.failures == done["rescue"]
        assert (done["release"] == [None]) != bool(done["rescue"])
        assert await scene.named(job.id, "job.released", "job.rescued") == 1

    await stage.every_order(play)


async def test_the_lease_of_a_cancelled_job_is_given_up_once_by_its_worker_or_its_rescuer(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running(lease=GONE)
        await scene.cancel(job.id)()
        await scene.requeue(job.id)()
        ended = scene.settle(transitions.handler_ended(job.id, job.attempt))
        done = await scene.together(worker=ended, rescue=scene.rescue())
        assert (done["worker"] == [None]) != bool(done["rescue"])
        row = await scene.job(job.id)
        assert (row.state, row.ready, row.failures) == ("queued", True, 0)

    await stage.every_order(play)

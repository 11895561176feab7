"""No wake-up is lost: whatever wakes a job and the job's own decision to wait may meet in any order."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from tests.interleaving.scene import Scene
from tests.interleaving.stage import Stage
from towpath.core import transitions
from towpath.core.records import Step
from towpath.store import journal
from towpath.store.contract import Claimed

PAST = datetime.now(UTC) - timedelta(hours=1)


def wait_for_signal(scene: Scene, job: Claimed, **fields: object) -> Callable[[], Awaitable[str]]:
    """What `ctx.wait_for` does: look for the signal, and leave the slot if there is none."""

    async def act() -> str:
        asked = Step(job.id, "signal go", "signal", done=False)
        step, wakes = await scene.store.run(lambda tx: journal.take_signal(tx, job.id, job.attempt, "go", asked))
        if step.done:
            return "taken"
        [refused] = await scene.settle(scene.deferral(job, "signal", wakes_seen=wakes, **fields))()
        assert refused is None
        return "deferred"

    return act


async def signal_against_wait(scene: Scene) -> None:
    job = await scene.running()
    done = await scene.together(wait=wait_for_signal(scene, job), signal=scene.signal(job.id))
    row = await scene.job(job.id)
    if done["wait"] == "taken":
        assert row.state == "running"
    else:
        assert (row.state, row.ready) == ("queued", True), "the signal is there and the job still sleeps"


async def test_a_signal_and_a_wait_never_miss_each_other(stage: Stage) -> None:
    scenes = await stage.every_order(signal_against_wait)
    assert len(scenes) >= 3  # before the wait, between its look and its leaving, and after


async def test_two_signals_at_once_wake_the_job_once_and_are_both_kept(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        await wait_for_signal(scene, job)()
        await scene.together(one=scene.signal(job.id), other=scene.signal(job.id))
        row = await scene.job(job.id)
        assert (row.state, row.wakes) == ("queued", 2)
        assert await scene.named(job.id, "job.resumed") == 1
        assert await scene.named(job.id, "job.signalled") == 2

    await stage.every_order(play)


async def test_a_signal_and_the_end_of_the_wait_resume_the_job_once(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        await wait_for_signal(scene, job, deadline=PAST)()
        done = await scene.together(expire=scene.expire(), signal=scene.signal(job.id))
        assert done["signal"] is None
        row = await scene.job(job.id)
        assert (row.state, row.ready) == ("queued", True)
        assert await scene.named(job.id, "job.resumed") == 1

    await stage.every_order(play)


async def test_a_signal_to_a_job_that_is_being_cancelled_is_refused_or_comes_first(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        await wait_for_signal(scene, job)()
        done = await scene.together(signal=scene.signal(job.id), cancel=scene.cancel(job.id))
        assert done["cancel"] == [None]
        assert (await scene.job(job.id)).state == "cancelled"
        assert await scene.named(job.id, "job.signalled") == (0 if isinstance(done["signal"], Exception) else 1)

    await stage.every_order(play)


async def test_the_last_child_and_its_parent_that_goes_to_wait_never_miss_each_other(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent = await scene.running(operation="parent")
        await scene.fan_out(parent, 1, awaited=True)
        [child] = await scene.claim()
        await scene.together(child=scene.succeed(child), defer=scene.settle(scene.deferral(parent, "children")))
        row = await scene.job(parent.id)
        assert (row.state, row.ready, row.await_open) == ("queued", True, 0)

    await stage.every_order(play)


async def test_the_last_child_and_a_parent_that_closes_never_miss_each_other(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        parent = await scene.running(operation="parent")
        await scene.fan_out(parent, 1, awaited=False)
        [child] = await scene.claim()
        await scene.together(child=scene.succeed(child), close=scene.settle(scene.closing(parent)))
        assert (await scene.job(parent.id)).state == "succeeded"
        assert await scene.named(parent.id, "job.succeeded") == 1

    await stage.every_order(play)


async def test_a_sleeper_that_is_cancelled_when_its_timer_rings_stays_cancelled(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        await scene.settle(scene.deferral(job, "sleep", deadline=PAST))()
        done = await scene.together(timer=scene.expire(), cancel=scene.cancel(job.id))
        assert done["cancel"] == [None]
        row = await scene.job(job.id)
        assert (row.state, row.ready) == ("cancelled", False)

    await stage.every_order(play)


async def test_of_two_who_would_work_on_a_waiting_job_from_outside_one_gets_the_lease(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        await scene.settle(scene.deferral(job, "provider"))()
        done = await scene.together(
            one=scene.apply(transitions.poll(job.id, "one", 30.0)),
            other=scene.apply(transitions.poll(job.id, "other", 30.0)),
        )
        [winner] = [name for name, verdict in done.items() if verdict == [None]]
        row = await scene.job(job.id)
        assert (row.state, row.worker_id, row.attempt) == ("waiting", winner, job.attempt + 1)

    await stage.every_order(play)


async def test_who_polls_a_job_that_is_woken_meanwhile_does_not_hold_it_back(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        await scene.settle(scene.deferral(job, "provider"))()
        await scene.together(poll=scene.apply(transitions.poll(job.id, "poller", 30.0)), signal=scene.signal(job.id))
        row = await scene.job(job.id)
        assert (row.state, row.ready, row.leased) == ("queued", True, False)

    await stage.every_order(play)

"""The rules that hold the interleavings together, each taken away in turn: the scenes must notice."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.interleaving import test_gates, test_leases, test_waking
from tests.interleaving.scene import Scene
from tests.interleaving.stage import Stage
from towpath.core import endings, verbs
from towpath.core.failpoints import reach
from towpath.core.lifecycle import TABLE
from towpath.core.records import Job
from towpath.core.transitions import Transition
from towpath.core.working_set import WorkingSet
from towpath.store.sql import compile_query

Move = Callable[[WorkingSet, Job, Transition], str | None]


def replace_move(monkeypatch: pytest.MonkeyPatch, verb: str, variant: Callable[[Move], Move]) -> None:
    monkeypatch.setitem(verbs._VERBS, verb, variant(verbs._VERBS[verb]))


async def notices(stage: Stage, play: Callable[[Scene], Awaitable[None]]) -> None:
    with pytest.raises(AssertionError):
        await stage.every_order(play)


async def test_a_deferral_that_does_not_compare_the_wake_counter_loses_a_signal(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgetful(real: Move) -> Move:
        return lambda working, job, t: real(working, job, replace(t, wakes_seen=job.wakes))

    await stage.every_order(test_waking.signal_against_wait)
    replace_move(monkeypatch, "defer", forgetful)
    await notices(stage, test_waking.signal_against_wait)


async def test_without_the_attempt_as_a_fence_a_zombie_finishes_somebody_elses_attempt(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TABLE, "succeed", replace(TABLE["succeed"], fenced=False))
    await notices(stage, test_leases.zombie_against_next_attempt)


async def test_a_rescue_that_does_not_look_at_the_lease_again_takes_a_live_job_away(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hasty(real: Move) -> Move:
        def rescue(working: WorkingSet, job: Job, t: Transition) -> str | None:
            job.lease_until = None if job.lease_until is None else working.now
            return real(working, job, t)

        return rescue

    replace_move(monkeypatch, "rescue", hasty)
    await notices(stage, test_leases.renewal_against_rescue)


async def test_a_child_that_does_not_count_in_its_own_transaction_is_noticed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endings, "count", lambda *_: None)

    async def play(scene: Scene) -> None:
        _, [child, _] = await scene.family(2)
        await scene.succeed(child)()

    await notices(stage, play)


async def test_a_gate_that_does_not_lock_its_lane_exceeds_the_cap(postgres_stage: Stage) -> None:
    queries = postgres_stage.store.queries
    source = "SELECT * FROM towpath.lane WHERE queue = :queue AND lane = :lane"
    queries._queries["lock_lane"] = compile_query("lock_lane", source, "postgres")
    await notices(postgres_stage, test_gates.gate_against_gate)


def parking_at_enqueue(scene: Scene) -> Callable[[], Awaitable[Any]]:
    """The obvious alternative to the gate: whoever enqueues counts the free slots and decides."""

    async def act() -> None:
        room = 1 - await test_gates.occupied(scene)
        await reach("decided")
        now, later = scene.new(), scene.new(delay=3600.0)
        made = now if room else later
        await scene.store.enqueue([made])
        if made is later:
            table, mark = ("towpath_job", "?") if scene.store.dialect == "sqlite" else ("towpath.job", "$1")
            text = f"UPDATE {table} SET run_at = NULL, parked = true, gate = 1, reason = 'capped' WHERE id = {mark}"
            await scene.store.run(lambda tx: tx.execute_sql(text, made.id))

    return act


async def test_parking_decided_at_enqueue_exceeds_the_cap(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        await scene.together(one=parking_at_enqueue(scene), other=parking_at_enqueue(scene))
        assert await test_gates.occupied(scene) <= 1, "two jobs took one slot"

    with pytest.raises(AssertionError, match="two jobs took one slot"):
        await stage.every_order(play, drain=False)


async def test_parking_decided_at_enqueue_leaves_a_job_behind_that_nobody_lets_in(stage: Stage) -> None:
    async def play(scene: Scene) -> None:
        job = await scene.running()
        await scene.together(enqueue=parking_at_enqueue(scene), settle=scene.succeed(job))
        assert not await test_gates.parked(scene), "the slot is free and the job still parked"

    with pytest.raises(AssertionError, match="the slot is free and the job still parked"):
        await stage.every_order(play)

"""Fan-outs in the database: atomic, recorded, counted once, and begun anew when what they rest on has changed."""

import pytest

from tests.contracts.stores import Hands, new_job
from towpath.core import transitions
from towpath.core.errors import HistoryMismatch, LeaseLost
from towpath.core.lifecycle import State
from towpath.core.outcomes import Failure
from towpath.core.records import Step
from towpath.store import journal
from towpath.store.contract import Claimed

BROKEN = Failure("fatal", "Fatal", "broken")


async def fan_out(hands: Hands, job: Claimed, name: str, size: int, *, kind: str = "gather", attempt: int | None = None):
    kids = [new_job(parent_id=job.id, root_id=job.id, child_group=name) for _ in range(size)]
    made = await hands.store.run(
        lambda tx: journal.fan_out(
            tx, job.id, attempt or job.attempt, kind=kind, name=name, children=kids, awaited=kind == "gather"
        )
    )
    return [kid.id for kid in kids], made


async def defer(hands: Hands, job: Claimed) -> None:
    wakes = (await hands.job(job.id)).wakes
    asked = transitions.defer(job.id, job.attempt, "children", wakes_seen=wakes, deadline=None, max_wait=3600)
    assert await hands.apply(asked) == [None]


async def finish(hands: Hands, *failing: str) -> None:
    """Runs every ready child; those named fail."""
    for job in await hands.claim():
        fails = job.id in failing
        asked = transitions.fail(job.id, job.attempt, BROKEN) if fails else transitions.succeed(job.id, job.attempt, "1")
        assert await hands.settle(asked) == [None]


async def group_of(hands: Hands, job_id: str, name: str) -> dict[str, int]:
    rows = await hands.store.read(lambda tx: tx.fetch("child_states", parent_id=job_id, child_group=name))
    return {row["state"]: row["jobs"] for row in rows}


async def test_a_fan_out_is_on_record_with_its_children_and_counters(hands):
    job = await hands.start()
    kids, made = await fan_out(hands, job, "gather a", 3)
    row = await hands.job(job.id)
    assert (row.children_total, row.await_group, row.await_open, row.progress_total) == (3, "gather a", 3, 3.0)
    assert [(k.parent_id, k.child_group, k.state) for k in await hands.jobs(*kids)] == [
        (job.id, "gather a", State.QUEUED)
    ] * 3
    [step] = await hands.store.read(lambda tx: journal.load_steps(tx, job.id))
    assert (step.name, step.kind, step.done) == ("gather a", "gather", True)
    assert made.wakes == row.wakes
    await hands.assert_truthful()


async def test_a_second_call_finds_the_first_ones_children(hands):
    job = await hands.start()
    await fan_out(hands, job, "gather a", 2)
    again, _ = await fan_out(hands, job, "gather a", 2)
    assert await hands.jobs(*again) == []
    assert (await hands.job(job.id)).children_total == 2


async def test_a_name_stands_for_one_kind_of_thing(hands):
    job = await hands.start()
    await fan_out(hands, job, "a", 1)
    with pytest.raises(HistoryMismatch, match="recorded as a gather and is now a spawn"):
        await fan_out(hands, job, "a", 1, kind="spawn")


async def test_a_superseded_attempt_fans_out_nothing(hands):
    job = await hands.start()
    with pytest.raises(LeaseLost):
        await fan_out(hands, job, "gather a", 2, attempt=job.attempt + 1)
    assert await hands.count("job") == 1
    assert await hands.count("step") == 0


async def test_the_last_awaited_child_brings_the_parent_back(hands):
    job = await hands.start()
    await fan_out(hands, job, "gather a", 2)
    await defer(hands, job)
    await finish(hands)
    row = await hands.job(job.id)
    assert (row.state, row.ready, row.children_ok, row.await_open) == (State.QUEUED, True, 2, 0)
    await hands.assert_truthful()


async def a_parent_past_two_gathers(hands: Hands) -> tuple[Claimed, list[str], list[str]]:
    """Its first gather had one failure that it could live with; it went on to a second gather, and failed later."""
    job = await hands.start()
    first, _ = await fan_out(hands, job, "gather a", 2)
    await defer(hands, job)
    await finish(hands, first[1])
    [job] = await hands.claim()
    second, _ = await fan_out(hands, job, "gather b", 3)
    await defer(hands, job)
    await finish(hands)
    [job] = await hands.claim()
    step = journal.Note(job.id, job.attempt, name="step.completed", step=Step(job.id, "merge", "step", output_json="1"))
    assert await hands.store.run(lambda tx: journal.record(tx, [step])) == [True]
    assert await hands.settle(transitions.fail(job.id, job.attempt, BROKEN)) == [None]
    return job, first, second


async def test_requeueing_a_child_makes_its_parent_forget_what_came_after_that_fan_out(hands):
    job, first, _ = await a_parent_past_two_gathers(hands)
    assert await hands.apply(transitions.requeue(first[1])) == [None]
    assert [step.name for step in await hands.store.read(lambda tx: journal.load_steps(tx, job.id))] == ["gather a"]
    row = await hands.job(job.id)
    assert (row.state, row.await_group, row.await_open, row.error_json) == (State.WAITING, "gather a", 1, None)
    await hands.assert_truthful()


async def test_a_fan_out_that_is_made_anew_does_not_count_the_children_of_the_first_time(hands):
    job, first, old = await a_parent_past_two_gathers(hands)
    await hands.apply(transitions.requeue(first[1]))
    await finish(hands)
    [job] = await hands.claim()
    assert job.id not in old
    new, _ = await fan_out(hands, job, "gather b", 2)
    assert await group_of(hands, job.id, "gather b") == {"queued": 2}
    assert (await hands.job(job.id)).children_total == 4
    assert {kid.parent_id for kid in await hands.jobs(*old)} == {None}  # they stay in history, on their own
    await defer(hands, job)
    await finish(hands)
    row = await hands.job(job.id)
    assert (row.state, row.children_ok, row.children_bad) == (State.QUEUED, 4, 0)
    assert await group_of(hands, job.id, "gather b") == {"succeeded": 2}
    assert {kid.parent_id for kid in await hands.jobs(*new)} == {job.id}
    await hands.assert_truthful()


async def test_ten_thousand_children_are_normal(hands):
    job = await hands.start()
    await fan_out(hands, job, "spawn a", 10_000, kind="spawn")
    row = await hands.job(job.id)
    assert (row.children_total, row.children_open) == (10_000, 10_000)
    assert await hands.apply(transitions.cancel(job.id)) == [None]
    assert await hands.count("job", "state = 'cancelled'") == 10_001
    assert (await hands.job(job.id)).children_bad == 10_000

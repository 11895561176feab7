"""What a running operation writes: fenced, together, and each thing once."""

import asyncio

import pytest

from tests.contracts.stores import Hands
from towpath.core import transitions
from towpath.core.errors import JobNotFound, LeaseLost, NotRequeueable
from towpath.core.ids import uuid7
from towpath.core.lifecycle import State
from towpath.core.records import Step
from towpath.core.usage import Usage
from towpath.store import journal
from towpath.store.journal import Note


async def record(hands: Hands, *notes: Note) -> list[bool]:
    return await hands.store.run(lambda tx: journal.record(tx, notes))


async def signal(hands: Hands, job_id: str, name: str = "go", payload: str = "1", signal_id: str | None = None) -> None:
    number = signal_id or uuid7()
    await hands.store.run(lambda tx: journal.send_signal(tx, job_id, name, payload, number))


async def take(hands: Hands, job, step: Step, name: str = "go") -> tuple[Step, int]:
    return await hands.store.run(lambda tx: journal.take_signal(tx, job.id, job.attempt, name, step))


async def begin(hands: Hands, job, seconds: float | None, name: str = "signal go") -> Step:
    new = Step(job.id, name, "signal", done=False)
    step, _, _ = await hands.store.run(lambda tx: journal.begin_wait(tx, job.id, job.attempt, new, seconds))
    return step


async def test_an_event_a_progress_and_a_step_are_written_together(hands):
    job = await hands.start()
    step = Step(job.id, "extract", "step", output_json='"out"', model="m", tokens_in=3, cost_cents=0.5)
    assert await record(hands, Note(job.id, 1, name="step.completed", progress=(1.0, 4.0), step=step)) == [True]
    row = await hands.job(job.id)
    assert (row.progress_current, row.progress_total, row.steps) == (1.0, 4.0, 1)
    [found] = await hands.store.read(lambda tx: journal.load_steps(tx, job.id))
    assert (found.name, found.output_json, found.model, found.tokens_in, found.cost_cents) == (
        "extract",
        '"out"',
        "m",
        3,
        0.5,
    )
    await hands.assert_truthful(job.id)


async def test_a_superseded_attempt_writes_nothing(hands):
    stale = await hands.start()
    await hands.apply(transitions.release(stale.id, 1))
    await hands.claim()
    before = await hands.job(stale.id)
    late = Note(stale.id, 1, name="late", progress=(9.0, 9.0), step=Step(stale.id, "s", "step"))
    assert await record(hands, late, Note(stale.id, 2, name="good")) == [False, True]
    assert (await hands.names(stale.id))[-1] == "good"
    assert (await hands.job(stale.id)).progress_current == before.progress_current
    assert await hands.count("step") == 0
    for refused in (begin(hands, stale, 1.0), take(hands, stale, Step(stale.id, "s", "signal"))):
        with pytest.raises(LeaseLost):
            await refused


async def test_many_steps_at_once_are_each_recorded_once_whoever_sends_them_again(hands):
    one, other = await hands.start(), await hands.start()
    used = [Usage("m", tokens_in=2)]

    def note(job, name, output, **more) -> Note:
        step = Step(job.id, name, "step", output_json=output, **more)
        return Note(job.id, 1, name="step.completed", fields={"step": name}, step=step, used=used)

    assert await record(hands, note(one, "a", "1")) == [True]
    again = [note(one, "a", "9"), note(one, "b", "2"), note(other, "a", "3"), note(other, "open", "4", done=False)]
    assert await record(hands, *again) == [True] * 4
    assert await record(hands, *again[1:3], note(other, "open", "5"), note(one, "c", "6"), note(one, "c", "7")) == [True] * 5

    async def steps(job) -> list[tuple[str, str, int]]:
        found = await hands.store.read(lambda tx: journal.load_steps(tx, job.id))
        return [(step.name, step.output_json, step.ord) for step in found]

    assert [(name, output) for name, output, _ in await steps(one)] == [("a", "1"), ("b", "2"), ("c", "6")]
    assert [(name, output) for name, output, _ in await steps(other)] == [("a", "3"), ("open", "5")]
    for job in (one, other):
        assert (await hands.job(job.id)).steps >= max(place for _, _, place in await steps(job))
        assert len({place for _, _, place in await steps(job)}) == len(await steps(job))
    assert (await hands.names(one.id)).count("step.completed") == 3
    assert (await hands.names(other.id)).count("step.completed") == 3  # a step that was open is told of twice
    await hands.assert_truthful(one.id, other.id)


async def test_notes_of_several_jobs_share_a_transaction_and_keep_their_order(hands):
    jobs = [await hands.start() for _ in range(3)]
    notes = [Note(job.id, 1, name=f"n{number}") for number in range(4) for job in jobs]
    assert await record(hands, *notes) == [True] * 12
    for job in jobs:
        assert (await hands.names(job.id))[2:] == ["n0", "n1", "n2", "n3"]
    await hands.assert_truthful()


async def test_a_note_about_a_job_that_is_gone_is_dropped(hands):
    assert await record(hands, Note(uuid7(), 1, name="lost")) == [False]


async def test_a_signal_that_came_before_anybody_waited_is_there_when_somebody_does(hands):
    job = await hands.start()
    await signal(hands, job.id, payload='{"by":"anna"}')
    step, _ = await take(hands, job, await begin(hands, job, None))
    assert (step.done, step.output_json) == (True, '{"payload":{"by":"anna"}}')


async def test_signals_are_taken_in_order_and_each_once(hands):
    job = await hands.start()
    for number in range(3):
        await signal(hands, job.id, payload=str(number))
    taken = []
    for number in range(4):
        name = f"signal go:{number}"
        step, _ = await take(hands, job, await begin(hands, job, None, name))
        taken.append(step.output_json)
    assert taken == ['{"payload":0}', '{"payload":1}', '{"payload":2}', None]


async def test_a_signal_wakes_a_waiting_job_and_counts_for_a_running_one(hands):
    job = await hands.start()
    _, wakes = await take(hands, job, await begin(hands, job, None))
    await signal(hands, job.id)  # after the look, before the defer
    await hands.apply(transitions.defer(job.id, 1, "signal", wakes_seen=wakes, deadline=None, max_wait=60))
    assert (await hands.job(job.id)).state is State.QUEUED
    [again] = await hands.claim()
    await hands.apply(transitions.defer(job.id, again.attempt, "signal", wakes_seen=again.wakes, deadline=None, max_wait=60))
    assert (await hands.job(job.id)).state is State.WAITING
    await signal(hands, job.id)
    assert (await hands.job(job.id)).state is State.QUEUED
    await hands.assert_truthful(job.id)


async def test_many_signals_at_the_same_moment_are_all_kept(hands):
    job = await hands.start()
    await asyncio.gather(*(signal(hands, job.id) for _ in range(8)))
    assert await hands.count("signal") == 8
    assert (await hands.job(job.id)).wakes == 8
    await hands.assert_truthful(job.id)


async def test_the_same_signal_sent_again_after_an_unknown_commit_counts_once(hands):
    job, number = await hands.start(), uuid7()
    for _ in range(2):
        await signal(hands, job.id, signal_id=number)
    assert await hands.count("signal") == 1
    assert (await hands.job(job.id)).wakes == 1


async def test_a_signal_to_nobody_is_refused(hands):
    with pytest.raises(JobNotFound):
        await signal(hands, uuid7())
    job = await hands.start()
    await hands.settle(transitions.succeed(job.id, 1, None))
    with pytest.raises(NotRequeueable, match="would reach nobody"):
        await signal(hands, job.id)
    assert await hands.count("signal") == 0


async def test_the_end_of_a_wait_is_fixed_at_its_first_encounter(hands):
    job = await hands.start()
    first = await begin(hands, job, 3600.0)
    again = await begin(hands, job, 5.0)
    assert again.until == first.until


async def test_a_wait_that_has_run_out_is_recorded_as_such(hands):
    job = await hands.start()
    step, _ = await take(hands, job, await begin(hands, job, -1.0))
    assert (step.done, step.output_json) == (True, '{"timeout":true}')

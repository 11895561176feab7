"""What a running operation writes: events, progress, steps, fan-outs, signals. All of it fenced.

Every write is guarded by the job's id, its attempt and `running`, under the job's row lock. An attempt that has been
superseded gets LeaseLost and leaves no trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from towpath.core.errors import HistoryMismatch, JobNotFound, LeaseLost, NotRequeueable
from towpath.core.failpoints import reach
from towpath.core.lifecycle import State
from towpath.core.records import STEP_FIELDS, Job, NewJob, Step, step_column
from towpath.core.requeueing import let_go
from towpath.core.usage import SUMS, Usage
from towpath.core.waking import wake
from towpath.core.working_set import WorkingSet
from towpath.store import ledger
from towpath.store.contract import Row, Tx


@dataclass(slots=True)
class Note:
    """One thing a Context wants on record: an event, a new progress, a step, or several of these together."""

    job_id: str
    attempt: int
    name: str | None = None
    message: str | None = None
    level: str = "info"
    fields: dict[str, Any] | None = None
    progress: tuple[float | None, float | None] | None = None
    step: Step | None = None
    used: Sequence[Usage] = ()  # the models behind it, for the sums by job and by tenant


Used = dict[tuple[str, str], Usage]
"""By job and model. What many steps of a job used is written as one sum: a database has each of its rows once to change."""


async def record(tx: Tx, notes: Sequence[Note]) -> list[bool]:
    """Writes the notes of any number of jobs. For each: whether the fence let it through."""
    jobs = await tx.jobs("lock_jobs", ids=sorted({note.job_id for note in notes}))
    await reach("record.locked")
    working = WorkingSet(jobs, tx.now)
    kept = [_holds(working.jobs.get(note.job_id), note.attempt) for note in notes]
    held = [note for note, holds in zip(notes, kept, strict=True) if holds]
    written = iter(await _put_steps(tx, working, [note.step for note in held if note.step is not None]))
    used: Used = {}
    for note in held:
        if note.step is None or next(written):  # what is on record already is the same note, sent again
            _add(working, working.jobs[note.job_id], note, used)
    for job_id, model in sorted(used):
        await _add_usage(tx, working.jobs[job_id], used[job_id, model])
    await ledger.write(tx, working)
    await reach("record.written")
    return kept


def _holds(job: Job | None, attempt: int) -> bool:
    return job is not None and job.state is State.RUNNING and job.attempt == attempt


async def _put_steps(tx: Tx, working: WorkingSet, steps: Sequence[Step]) -> list[bool]:
    """For each: whether it was written. Many go in two round trips; their jobs are locked, so nobody puts one in between."""
    asked = [(step.job_id, step.name) for step in steps]
    if len(steps) < 2 or len(set(asked)) < len(asked):
        return [await put_step(tx, working.jobs[step.job_id], step) is not None for step in steps]
    names = {"job_ids": sorted({job_id for job_id, _ in asked}), "names": sorted({name for _, name in asked})}
    done = {(str(row["job_id"]), row["name"]) for row in await tx.fetch("steps_done", **names)}
    await tx.execute_many("put_step", [_values(_numbered(tx, working.jobs[step.job_id], step)) for step in steps])
    return [place not in done for place in asked]


def _add(working: WorkingSet, job: Job, note: Note, sums: Used) -> None:
    if note.progress is not None:
        current, total = note.progress
        job.progress_current = current if current is not None else job.progress_current
        job.progress_total = total if total is not None else job.progress_total
        if job.progress_total is not None and (job.progress_current or 0) > job.progress_total:
            job.progress_total = None  # progress has gone beyond it, so nobody knows the total after all
        if note.name is None or not note.name.startswith("job."):
            working.note(job, "job.progress", fields={"current": job.progress_current, "of": job.progress_total})
    for used in note.used:
        sums.setdefault((job.id, used.model), Usage(used.model)).add(used)
    if note.name is not None:
        fields = note.fields
        if note.progress is not None and note.name.startswith("job."):
            fields = (fields or {}) | {"current": job.progress_current, "of": job.progress_total}
        working.note(job, note.name, message=note.message, level=note.level, fields=fields)


async def _add_usage(tx: Tx, job: Job, used: Usage) -> None:
    sums = {name: getattr(used, name) for name in SUMS}
    whose = {"tenant": job.tenant, "queue": job.queue, "operation": job.operation, "model": used.model}
    await tx.execute("add_usage_delta", at=tx.now, **whose, **sums)
    await tx.execute("add_job_usage", job_id=job.id, model=used.model, **sums)


async def put_step(tx: Tx, job: Job, step: Step) -> Step | None:
    """The record as it was written; None if it was not, because the record of a step that is done stays as it is.

    `step` itself is left alone: after a deadlock the unit is run again, with the same arguments.
    """
    written = _numbered(tx, job, step)
    return written if await tx.execute("put_step", **_values(written)) else None


def _numbered(tx: Tx, job: Job, step: Step) -> Step:
    """With its place among the job's steps."""
    if step.ord == 0:
        job.steps += 1
    return replace(step, ord=step.ord or job.steps, attempt=job.attempt, created_at=tx.now)


def _values(step: Step) -> dict[str, Any]:
    return {step_column(name): getattr(step, name) for name in STEP_FIELDS}


def step_from(row: Row) -> Step:
    values = {name: row[step_column(name)] for name in STEP_FIELDS}
    values["job_id"], values["done"] = str(values["job_id"]), bool(values["done"])
    return Step(**values)


async def load_steps(tx: Tx, job_id: str) -> list[Step]:
    return [step_from(row) for row in await tx.fetch("steps", job_id=job_id)]


async def hold(tx: Tx, job_id: str, attempt: int) -> Job:
    """The job, locked, if this attempt is the running one."""
    job = await ledger.lock_one(tx, job_id)
    if job is None or not _holds(job, attempt):
        raise LeaseLost(f"attempt {attempt} of job {job_id} is no longer the running one; what it writes does not count")
    return job


@dataclass(slots=True)
class FanOut:
    """A fan-out as it stands: the step that recorded it, how many of its children are open, and the wake count."""

    step: Step
    open: int
    wakes: int


async def fan_out(
    tx: Tx, job_id: str, attempt: int, *, kind: str, name: str, children: Sequence[NewJob], awaited: bool
) -> FanOut:
    """Inserts the children, the counters and the record in one transaction; a second call finds the first one's."""
    job = await hold(tx, job_id, attempt)
    found = await tx.fetch("step_by_name", job_id=job_id, name=name)
    if found:
        step = step_from(found[0])
        if step.kind != kind:
            raise HistoryMismatch(mismatch(name, step.kind, kind))
        return FanOut(step, job.await_open if job.await_group == name else 0, job.wakes)
    working = WorkingSet([job], tx.now)
    if job.children_total > 0:
        # Its record was dropped because an earlier outcome no longer holds; so do the children it had then.
        former = await tx.jobs("lock_group", parent_id=job_id, child_group=name)
        working.add(former)
        working.now = tx.now
        let_go(job, former)
    if job.progress_total is None or job.progress_total == job.children_total:
        job.progress_total = float(job.children_total + len(children))
        job.progress_current = float(job.children_ended)
    job.children_total += len(children)
    if awaited:
        job.await_group, job.await_open = name, len(children)
    step = Step(job_id, name, kind, done=True, output_json=f'{{"children":{len(children)}}}')
    step = await put_step(tx, job, step) or step
    working.note(job, "job.spawned", fields=job.counters() | {"step": name, "children": len(children)})
    await ledger.write(tx, working)
    await reach("fan_out.recorded")
    if children:
        await tx.insert_jobs(children)
    return FanOut(step, len(children) if awaited else 0, job.wakes)


def mismatch(name: str, recorded: str, asked: str) -> str:
    return (
        f"step {name!r} was recorded as a {recorded} and is now a {asked}; give the new one another name, or requeue the "
        f"job with an edited payload to drop its records"
    )


async def sum_progress(tx: Tx, parent_id: str) -> None:
    """Makes the parent's progress the sum of its children's. Told from the rows, so that saying it twice says it once."""
    parent = await ledger.lock_one(tx, parent_id)
    if parent is None or parent.ended or parent.progress_total in (None, parent.children_total):
        return  # it is over, or shows how many of its children have ended
    [row] = await tx.fetch("children_progress", parent_id=parent_id)
    done = min(float(row["done"] or 0.0), parent.progress_total or 0.0)
    if done == parent.progress_current:
        return
    working = WorkingSet([parent], tx.now)
    parent.progress_current = done
    working.note(parent, "job.progress", fields={"current": done, "of": parent.progress_total})
    await ledger.write(tx, working)


async def begin_wait(tx: Tx, job_id: str, attempt: int, step: Step, seconds: float | None) -> tuple[Step, int, datetime]:
    """Records when a sleep or a wait ends, at its first encounter; later entries find the same instant."""
    job = await hold(tx, job_id, attempt)
    found = await tx.fetch("step_by_name", job_id=job_id, name=step.name)
    if found:
        return step_from(found[0]), job.wakes, tx.now
    step = replace(step, until=tx.now + timedelta(seconds=seconds) if seconds is not None else None)
    working = WorkingSet([job], tx.now)
    step = await put_step(tx, job, step) or step
    await tx.write_jobs(working.changes())
    return step, job.wakes, tx.now


async def take_signal(tx: Tx, job_id: str, attempt: int, signal: str, step: Step) -> tuple[Step, int]:
    """Consumes the oldest waiting signal of that name, together with the record that it was."""
    job = await hold(tx, job_id, attempt)
    working = WorkingSet([job], tx.now)
    rows = await tx.fetch("next_signal", job_id=job_id, name=signal)
    if rows:
        await tx.execute("consume_signal", id=rows[0]["id"], step=step.name)
        step = replace(step, done=True, output_json=f'{{"payload":{rows[0]["payload"]}}}')
    elif step.until is not None and step.until <= tx.now:
        step = replace(step, done=True, output_json='{"timeout":true}')
    else:
        await reach("signal.not_yet")
        return step, job.wakes
    step = await put_step(tx, job, step) or step
    working.note(job, "step.completed", fields={"step": step.name, "kind": step.kind})
    await ledger.write(tx, working)
    return step, job.wakes


async def send_signal(tx: Tx, job_id: str, name: str, payload_json: str, signal_id: str) -> None:
    """Stores the signal and wakes the job, in one transaction: a defer that comes later sees the wake."""
    job = await ledger.lock_one(tx, job_id)
    if job is None:
        raise JobNotFound(f"no job has the id {job_id}")
    if job.ended:
        raise NotRequeueable(f"job {job_id} is {job.state.value}; a signal would reach nobody")
    working = WorkingSet([job], tx.now)
    if not await tx.execute("add_signal", id=signal_id, job_id=job_id, name=name, payload=payload_json, now=tx.now):
        return  # it is here: the same signal, sent again
    working.note(job, "job.signalled", fields={"signal": name})
    wake(working, job, f"signal {name}")
    await reach("signal.woken")
    await ledger.write(tx, working)

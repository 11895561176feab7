"""Signals to many jobs in one transaction: ten thousand may wait for what one of them found out.

Whoever waits already gets its answer recorded at once, so that it need not fetch it in a transaction of its own. One that
runs just now finds the signal when it looks, as with `journal.send_signal`: its entry may have read its steps already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from towpath.core.encoding import decode
from towpath.core.lifecycle import State
from towpath.core.records import STEP_FIELDS, Job, Step, step_column
from towpath.core.waking import wake
from towpath.core.working_set import WorkingSet
from towpath.store import journal, ledger
from towpath.store.contract import Tx

_Waits = dict[tuple[str, str], Step]


@dataclass(frozen=True, slots=True)
class Signal:
    id: str
    job_id: str
    name: str
    payload_json: str


async def send_many(tx: Tx, signals: Sequence[Signal]) -> list[str]:
    """Answers the jobs that they reached; what has ended or is gone is passed over."""
    found = await tx.jobs("lock_jobs", ids=sorted({signal.job_id for signal in signals}))
    working = WorkingSet([job for job in found if job.live], tx.now)
    waits = await _waits(tx, [job.id for job in working.jobs.values() if job.state is not State.RUNNING])
    answered, kept = [], []
    for signal in signals:
        job = working.jobs.get(signal.job_id)
        if job is None:
            continue
        working.note(job, "job.signalled", fields={"signal": signal.name})
        step = waits.pop((job.id, signal.name), None)
        if step is None:
            kept.append(signal)
        else:
            answered.append(_answered(tx, job, step, signal))
            working.note(job, "step.completed", fields={"step": step.name, "kind": step.kind})
        wake(working, job, f"signal {signal.name}")
    await tx.execute_many("put_step", answered)
    await tx.execute_many(
        "add_signal",
        [{"id": s.id, "job_id": s.job_id, "name": s.name, "payload": s.payload_json, "now": tx.now} for s in kept],
    )
    await ledger.write(tx, working)
    return list(working.jobs)


async def _waits(tx: Tx, job_ids: Sequence[str]) -> _Waits:
    """By job and signal, what waits for it; without those for which an earlier signal is still there to be taken."""
    if not job_ids:
        return {}
    found: _Waits = {}
    for row in await tx.fetch("open_waits", job_ids=list(job_ids)):
        step = journal.step_from(row)
        # A step that an older release began has only its own name.
        name = (decode(step.output_json) or {}).get("signal") or step.name.removeprefix("signal ")
        found.setdefault((step.job_id, name), step)
    for row in await tx.fetch("signals_not_taken", job_ids=list(job_ids)) if found else ():
        found.pop((str(row["job_id"]), row["name"]), None)
    return found


def _answered(tx: Tx, job: Job, step: Step, signal: Signal) -> dict[str, Any]:
    output = f'{{"payload":{signal.payload_json}}}'
    written = replace(step, done=True, output_json=output, attempt=job.attempt, created_at=tx.now)
    return {step_column(name): getattr(written, name) for name in STEP_FIELDS}

"""Why a job is where it is, told from the very columns the engine obeys."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from towpath.core.encoding import decode
from towpath.core.errors import JobNotFound
from towpath.core.lifecycle import State
from towpath.core.records import Job
from towpath.engine.liveness import live_workers
from towpath.store.contract import Store, Tx

MOST_COUNTED = 1000
_RATE_WINDOW = timedelta(minutes=10)


@dataclass(slots=True)
class Explanation:
    """One sentence, and the facts behind it. `position` is how many claims come first; None if it cannot be said."""

    job_id: str
    state: str
    reason: str
    sentence: str
    position: int | None = None
    position_is_more: bool = False
    eta_seconds: tuple[float, float] | None = None
    until: datetime | None = None
    remedy: str | None = None


async def explain(store: Store, job_id: str) -> Explanation:
    async def unit(tx: Tx) -> Explanation:
        found = await tx.jobs("jobs_by_id", ids=[job_id])
        if not found:
            raise JobNotFound(f"no job has the id {job_id}; it may have been deleted or pruned")
        return await _tell(tx, found[0])

    return await store.read(unit)


async def _tell(tx: Tx, job: Job) -> Explanation:
    told = Explanation(job.id, job.state.value, job.reason or job.state.value, "")
    match job.state:
        case State.QUEUED:
            await _queued(tx, job, told)
        case State.RUNNING:
            _running(tx, job, told)
        case State.WAITING:
            _waiting(job, told)
        case _:
            _ended(job, told)
    return told


def _running(tx: Tx, job: Job, told: Explanation) -> None:
    told.until = job.lease_until
    if job.lease_until is not None and job.lease_until < tx.now:
        told.reason = "lease_expired"
        told.sentence = f"its worker {job.worker_id} stopped answering; it will be rescued in a moment"
    else:
        told.reason = "running"
        told.sentence = f"attempt {job.failures + 1} of {job.max_attempts} is running on worker {job.worker_id}"


def _waiting(job: Job, told: Explanation) -> None:
    told.until = job.deadline
    if job.reason == "children":
        told.sentence = f"it waits for {job.children_open} of {job.children_total} children"
    elif job.reason == "signal":
        told.sentence = "it waits for a signal"
    elif job.reason == "sleep":
        told.sentence = "it sleeps until its timer rings"
    else:
        told.sentence = f"it waits for {job.reason}"


_ENDED = {
    State.SUCCEEDED: "it has succeeded",
    State.PARTIAL: "it has succeeded in part",
    State.CANCELLED: "it was cancelled",
}


def _ended(job: Job, told: Explanation) -> None:
    error = job.error or {}
    told.until = job.finished_at
    told.sentence = _ENDED.get(job.state, "it ended")
    if job.state is State.FAILED:
        told.reason = error.get("kind", "failed")
        told.sentence = f"it failed: {error.get('message', 'no reason was recorded')}"
        told.remedy = error.get("remedy")
    elif job.leased:
        told.reason = "ending"
        told.sentence = f"it was {job.state.value}, and its handler is still being stopped"


async def _queued(tx: Tx, job: Job, told: Explanation) -> None:
    if job.run_at is not None:
        told.until = job.run_at
        told.sentence = {
            "retry": f"failure {job.failures} of {job.max_attempts}; it is tried again when its backoff is over",
            "rate_limited": "the other side asked to slow down; it is tried again when the budget opens",
            "retry_later": "it asked to come back later",
            "no_handler": f"no worker that took it knows the operation {job.operation!r}; start one that does",
        }.get(job.reason or "", "it is scheduled for later")
        return
    if job.reason == "ending":
        told.sentence = "it was requeued while its old handler is still being stopped"
        return
    if job.parked:
        await _capped(tx, job, told)
        return
    await _ready(tx, job, told)


async def _capped(tx: Tx, job: Job, told: Explanation) -> None:
    rows = await tx.fetch("lanes", queue=job.queue)
    lane = next((row for row in rows if row["lane"] == job.lane), None)
    told.reason = "capped"
    if lane is None:
        told.sentence = "its lane's cap was just lifted"
    elif lane["max_slots"] is not None:
        told.sentence = f"its lane {job.lane!r} may use {lane['max_slots']} slots of {job.queue!r}, and all are taken"
    else:
        told.sentence = f"its lane {job.lane!r} may have {lane['max_roots']} jobs open in {job.queue!r}, and has"


async def _ready(tx: Tx, job: Job, told: Explanation) -> None:
    settings = await tx.fetch("lock_free_queue", queue=job.queue)
    if settings and settings[0]["paused"]:
        told.reason = "paused"
        told.sentence = f"the queue {job.queue!r} is paused"
        told.remedy = f"towpath queues resume {job.queue}"
        return
    told.position, told.position_is_more = await position(tx, job)
    workers = await live_workers(tx)
    serving = [row for row in workers if job.queue in decode(row["queues"])]
    ahead = _ahead(told)
    if not serving:
        told.reason = "no_worker"
        told.sentence = f"no live worker serves the queue {job.queue!r}; {ahead}"
        told.remedy = f"towpath worker --app module:app --queues {job.queue}"
        return
    if settings and settings[0]["max_slots"] is not None:
        used = (await tx.fetch("leased_in_queue", queue=job.queue))[0]["used"]
        if used >= settings[0]["max_slots"]:
            told.reason = "queue_capped"
            told.sentence = f"the queue {job.queue!r} runs {used} of {settings[0]['max_slots']} jobs; {ahead}"
            return
    told.reason = "behind" if told.position else "next"
    told.sentence = ahead
    if not told.position_is_more:
        told.eta_seconds = await _eta(tx, job, told.position or 0)


def _ahead(told: Explanation) -> str:
    if told.position_is_more:
        return f"over {MOST_COUNTED:,} jobs are before it"
    match told.position:
        case None | 0:
            return "it is next"
        case 1:
            return "one job is before it"
        case _:
            return f"{told.position:,} jobs are before it"


async def position(tx: Tx, job: Job) -> tuple[int, bool]:
    """How many claims come before a ready job: exact up to a thousand, because counting further costs more than it tells."""
    limit = MOST_COUNTED + 1
    lower = await tx.fetch("ahead_in_lower_bands", queue=job.queue, priority=job.priority, limit=limit)
    count = int(lower[0]["jobs"])
    if count < limit:
        rows = await tx.fetch(
            "ahead_in_band", queue=job.queue, priority=job.priority, id=job.id, limit=limit - count, **{"pass": job.pass_}
        )
        count += int(rows[0]["jobs"])
    return min(count, MOST_COUNTED), count > MOST_COUNTED


async def _eta(tx: Tx, job: Job, ahead: int) -> tuple[float, float] | None:
    """A range from the queue's recent rate; None while there is no history to judge by."""
    rows = await tx.fetch("queue_rate", queue=job.queue, since=tx.now - _RATE_WINDOW)
    started, minutes = (rows[0]["started"] or 0, rows[0]["minutes"] or 0) if rows else (0, 0)
    if not started or not minutes:
        return None
    seconds = (ahead + 1) / (float(started) / (float(minutes) * 60.0))
    return (round(seconds * 0.5, 1), round(seconds * 2.0, 1))

"""Why a job is where it is, told from the very columns the engine obeys."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType

from towpath.core.encoding import decode
from towpath.core.lifecycle import State
from towpath.core.records import Job
from towpath.engine.asking.explain_providers import tell_of_providers
from towpath.engine.asking.explain_spending import tell_of_money
from towpath.engine.asking.liveness import furthest_lease, live_workers, patience
from towpath.engine.asking.reading import no_job
from towpath.engine.asking.unbegun import waits_for_a_slot
from towpath.engine.transaction import Reading
from towpath.store.contract import Store, Tx

MOST_COUNTED = 1000
_RATE_WINDOW = timedelta(minutes=10)
WAITS_FOR_A_BELL = frozenset({"next", "behind"})
"""Reasons with which a job waits for nothing but a worker that hears of it and has a slot."""


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


@dataclass(frozen=True, slots=True)
class Why:
    """What a product says of a job of somebody's that waits for a signal of the product's: a sentence, and until when."""

    sentence: str
    until: datetime | None = None


Explainer = Callable[[Reading, Job], Awaitable[Why | None]]
"""Is asked about a job that waits for its signal; None: the signal's name says enough."""
_NOBODY: Mapping[str, Explainer] = MappingProxyType({})


async def explain(store: Store, job_id: str, explainers: Mapping[str, Explainer] = _NOBODY) -> Explanation:
    async def unit(tx: Tx) -> Explanation:
        found = await tx.jobs("jobs_by_id", ids=[job_id])
        if not found:
            raise no_job(job_id)
        told = await _tell(tx, found[0])
        if told.reason == "signal":
            await _ask(tx, found[0], told, explainers)
        return told

    return await store.read(unit)


async def _tell(tx: Tx, job: Job) -> Explanation:
    told = Explanation(job.id, job.state.value, job.reason or job.state.value, "")
    match job.state:
        case State.QUEUED:
            await _queued(tx, job, told)
        case State.RUNNING:
            await _running(tx, job, told)
        case State.WAITING:
            await _waiting(tx, job, told)
        case _:
            _ended(job, told)
    return told


async def _running(tx: Tx, job: Job, told: Explanation) -> None:
    told.until = job.lease_until
    furthest = await furthest_lease(tx)
    if job.lease_until is not None and job.lease_until < tx.now:
        await _unattended(tx, job, told, f"its worker {job.worker_id} stopped answering")
    elif job.lease_until is not None and furthest is not None and job.lease_until > furthest:
        await _unattended(tx, job, told, f"the clock was moved back since its worker {job.worker_id} was heard of last")
    elif await waits_for_a_slot(tx, job):
        told.reason = "claimed"
        told.sentence = f"it is claimed by worker {job.worker_id} and starts when a slot is free"
    else:
        told.reason = "running"
        told.sentence = f"attempt {job.failures + 1} of {job.max_attempts} is running on worker {job.worker_id}"


async def _unattended(tx: Tx, job: Job, told: Explanation, why: str) -> None:
    """Its lease is nothing worth any more. Whoever is alive rescues it, after a lease at the latest."""
    told.reason = "lease_expired"
    alive = await live_workers(tx)
    if not alive:
        told.sentence = f"{why}, and no worker is alive that could rescue it"
        told.remedy = _start(job.queue)
        return
    told.sentence = f"{why}; it will be rescued within {math.ceil(patience(alive))} s"


async def _waiting(tx: Tx, job: Job, told: Explanation) -> None:
    told.until = job.deadline
    if job.reason == "children":
        told.sentence = f"it waits for {job.children_open} of {job.children_total} children"
    elif job.reason == "signal":
        told.sentence = f"it waits for {await _signals(tx, job)}"
    elif job.reason == "sleep":
        told.sentence = "it sleeps until its timer rings"
    elif job.reason == "budget":
        await tell_of_money(tx, job, told)
    elif job.reason in ("provider", "submit_unknown", "provider_call"):
        await tell_of_providers(tx, job, told)
    else:
        told.sentence = f"it waits for {job.reason}"


async def _ask(tx: Tx, job: Job, told: Explanation, explainers: Mapping[str, Explainer]) -> None:
    for name in await _awaited(tx, job):
        asked = explainers.get(name.partition(":")[0])
        why = await asked(Reading(tx), job) if asked is not None else None
        if why is not None:
            told.sentence, told.until = why.sentence, why.until or told.until


async def _signals(tx: Tx, job: Job) -> str:
    names = await _awaited(tx, job)
    return f"the signal {' or '.join(map(repr, names))}" if names else "a signal"


async def _awaited(tx: Tx, job: Job) -> list[str]:
    rows = await tx.fetch("awaited_signals", job_id=job.id)
    # A step that an older release began has only its own name.
    return [(decode(row["output"]) or {}).get("signal") or row["name"].removeprefix("signal ") for row in rows]


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
        return
    if lane["max_slots"] is not None:
        running = (await tx.fetch("lane_slots_running", queue=job.queue, lane=job.lane))[0]["used"]
        taken = "all are taken" if running >= lane["max_slots"] else "they are kept for jobs before it"
        told.sentence = f"its lane {job.lane!r} may use {lane['max_slots']} slots of {job.queue!r}, and {taken}"
    else:
        told.sentence = f"its lane {job.lane!r} may have {lane['max_roots']} jobs open in {job.queue!r}, and has"
    if 0 in (lane["max_slots"], lane["max_roots"]):
        option = "--slots" if lane["max_slots"] == 0 else "--roots"
        told.sentence = f"its lane {job.lane!r} may use nothing of {job.queue!r}"
        told.remedy = f"towpath queues lane {job.queue} {job.lane} {option} 1"
    elif not await _serving(tx, job.queue):
        told.sentence = f"no live worker serves the queue {job.queue!r}; {told.sentence}"
        told.remedy = _start(job.queue)


async def _ready(tx: Tx, job: Job, told: Explanation) -> None:
    settings = await tx.fetch("lock_free_queue", queue=job.queue)
    if settings and settings[0]["paused"]:
        told.reason = "paused"
        told.sentence = f"the queue {job.queue!r} is paused"
        told.remedy = f"towpath queues resume {job.queue}"
        return
    told.position, told.position_is_more = await position(tx, job)
    ahead = _ahead(told)
    if not await _serving(tx, job.queue):
        told.reason = "no_worker"
        told.sentence = f"no live worker serves the queue {job.queue!r}; {ahead}"
        told.remedy = _start(job.queue)
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


async def _serving(tx: Tx, queue: str) -> bool:
    return any(queue in decode(row["queues"]) for row in await live_workers(tx))


def _start(queue: str) -> str:
    return f"towpath worker --app module:app --queues {queue}"


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

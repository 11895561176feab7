"""What workers say is taken down, if it is about a task that they have.

Every statement is guarded by attempt, sequence and worker: what is late, stale or made up changes nothing and is logged.
What ends an attempt is one transaction with the signal that wakes its job.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from towpath import App, Fatal, Transaction, Transient, to_json
from towpath.fleet import stored
from towpath.fleet.messages import COMPLETED, MISSED, PROGRESS, StatusReport, WorkerReport
from towpath.fleet.minting import Minted, mint
from towpath.fleet.names import KIND, WORKER, ended, output_key
from towpath.fleet.records import Dispatch
from towpath.fleet.secrets import holds
from towpath.fleet.storage import storage_of

log = logging.getLogger("towpath.fleet")

_TOUCHED_EVERY = timedelta(seconds=20)
REMEMBERED = timedelta(days=7)
"""So long a worker that is known by a queue only stays in lists."""
ACCEPTED, FOREIGN, STALE, OVER = "accepted", "foreign", "stale", "over"


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of a report: `over` says that the worker has no business with the task any more."""

    verdict: str
    cancelled: bool = False
    urls: Minted | None = None


class _Late(Exception):
    """Somebody else was there first: nothing of the transaction counts."""


async def take(app: App, report: StatusReport, *, worker_id: str | None = None, base_url: str = "") -> Heard:
    """`worker_id` is who it is for certain, of a worker that has shown its token."""
    dispatch = await stored.attempt(app, report.task, report.attempt)
    who = worker_id or report.worker_id
    verdict = _verdict(dispatch, report, who, known=worker_id is not None)
    if dispatch is None or verdict != ACCEPTED:
        if dispatch is not None and verdict == OVER and report.status == COMPLETED:
            await _clear_late(app, dispatch)
        return _dropped(report, who, verdict)
    try:
        await app.transact(lambda tx: _unit(app, tx, report, dispatch, who))
    except _Late:
        return _dropped(report, who, STALE)
    urls = await _refreshed(app, dispatch, base_url) if report.refresh else None
    return Heard(ACCEPTED, urls=urls)


def _verdict(dispatch: Dispatch | None, report: StatusReport, who: str, *, known: bool) -> str:
    if dispatch is None or not holds(dispatch.link_key, report.task, report.attempt, report.secret):
        return FOREIGN
    if dispatch.worker_id not in ((who,) if known else (None, who)):
        return FOREIGN
    if not dispatch.open or dispatch.report is not None:
        return OVER
    return ACCEPTED if report.sequence > dispatch.sequence else STALE


async def _clear_late(app: App, dispatch: Dispatch) -> None:
    """Its worker had been given up, and has stored a result all the same, which nobody will read. While an attempt is being
    looked at, its result stays."""
    task = next(iter(await stored.tasks(app, [dispatch.task_id])), None)
    if task is not None and not dispatch.open:
        try:
            await storage_of(app, task.target).delete(output_key(task.target, task.id, dispatch.attempt))
        except (Transient, Fatal) as error:
            log.warning("a result of task %s that came too late could not be removed: %s", task.id, error)


def _dropped(report: StatusReport, who: str, verdict: str) -> Heard:
    log.warning(
        "dropped %s of task %s, attempt %d, number %d from worker %s: it is %s",
        report.status, report.task, report.attempt, report.sequence, who, verdict,
    )  # fmt: skip
    return Heard(verdict, cancelled=verdict in (OVER, FOREIGN))


async def _unit(app: App, tx: Transaction, report: StatusReport, dispatch: Dispatch, who: str) -> None:
    this = {"task_id": report.task, "attempt": report.attempt, "worker_id": who, "sequence": report.sequence}
    is_news = True
    if report.status == PROGRESS:
        is_news = _is_news(report, dispatch)
        changed = await tx.change(
            "fleet_dispatch_heard", **this, now=tx.now, lease_until=_lease(app, report, dispatch, tx.now),
            progress=report.progress, total=report.total, message=report.message,
        )  # fmt: skip
    else:
        # The job's row is locked first, as by everybody: see the page about slices.
        await tx.signal_many([(dispatch.job_id, ended(dispatch.attempt), None)])
        said = report.model_dump(include={"status", "failure", "output", "used"}, exclude_none=True)
        changed = await tx.change("fleet_dispatch_reported", **this, now=tx.now, report=to_json(said))
    if not changed:
        raise _Late
    touched = await tx.change("fleet_worker_touch", id=who, now=tx.now, before=tx.now - _TOUCHED_EVERY)
    is_back = bool(touched) and bool(await tx.change("fleet_worker_came", id=who))
    for note in report.notes:
        fields = None if note.fields is None else to_json(note.fields)
        await tx.change(
            "fleet_note_add", task_id=report.task, attempt=report.attempt, number=note.number, now=tx.now, level=note.level,
            name=note.name, message=note.message, fields=fields,
        )  # fmt: skip
    if is_news:
        await tx.tell(KIND, report.task, tenant=dispatch.tenant)
    if is_back or not dispatch.acknowledged or report.status != PROGRESS:
        await tx.tell(WORKER, who, tenant=dispatch.tenant)  # one more of its slots is busy, or one less


def _is_news(report: StatusReport, dispatch: Dispatch) -> bool:
    """Whether anybody sees anything of it: most heartbeats only say that somebody is there."""
    told = (
        (report.progress, dispatch.progress),
        (report.total, dispatch.progress_total),
        (report.message, dispatch.message),
    )
    moved = any(new is not None and new != known for new, known in told)
    return moved or not dispatch.acknowledged or bool(report.notes)


def _lease(app: App, report: StatusReport, dispatch: Dispatch, now: datetime) -> datetime:
    """Who sends heartbeats is given up when some of them are missing, and who does not after a longer while."""
    every = report.heartbeat_seconds
    lasts = app.settings.fleet_stuck_seconds if every is None else every * MISSED
    return min(now + timedelta(seconds=lasts), max(dispatch.deadline, now))


async def _refreshed(app: App, dispatch: Dispatch, base_url: str) -> Minted:
    task = await stored.task(app, dispatch.task_id)
    minted = await mint(app, task, dispatch, await app.now(), base_url)

    async def unit(tx: Transaction) -> None:
        await tx.change(
            "fleet_dispatch_minted", task_id=task.id, attempt=dispatch.attempt, get_url=minted.get_url,
            put_url=minted.put_url, until=datetime.fromtimestamp(minted.until, UTC),
        )  # fmt: skip

    await app.transact(unit)
    return minted


async def greet(app: App, report: WorkerReport, *, worker_id: str | None = None) -> None:
    """Notes that a worker is there: one with a token, or one that is known by what it calls itself."""
    told = {
        "host": report.host, "version": report.version, "slots": report.slots, "busy": min(report.busy, report.slots),
        "operations": " ".join(one for one in report.operations if " " not in one),
    }  # fmt: skip

    who = worker_id or report.worker_id

    async def unit(tx: Transaction) -> None:
        if worker_id is not None:
            await tx.change("fleet_worker_seen", id=worker_id, now=tx.now, **told)
        else:
            name = report.name or report.worker_id
            await tx.change("fleet_worker_heard_of", id=report.worker_id, name=name, now=tx.now, **told)
        if await tx.change("fleet_worker_came", id=who):
            await tx.tell(WORKER, who)

    await app.transact(unit)

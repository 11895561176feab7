"""Tasks and workers as the API shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from towpath import Row, from_json, moment
from towpath.fleet import schemas
from towpath.fleet.records import Dispatch, Worker
from towpath.fleet.recovering import ALIVE
from towpath.fleet.views import TaskView

_PARTLY = "only a part of it was done"


def task_shape(view: TaskView, names: Mapping[str, str] | None = None, *, urls: bool = False) -> schemas.FleetTask:
    """`urls`: for those who may know where the objects are."""
    return schemas.FleetTask(**_task(view, names or {}, urls=urls))


def _task(view: TaskView, names: Mapping[str, str], *, urls: bool) -> dict[str, Any]:
    task, last, job, error = view.task, view.last, view.standing.job, view.error
    worker_id = last.worker_id if last else None
    return {
        "task_id": task.id, "tenant": task.tenant, "operation": task.operation, "name": task.name, "source": task.source,
        "object_key": task.object_key, "worker_id": worker_id, "worker": names.get(worker_id or ""),
        "status": view.status, "created_at": task.created_at, "updated_at": view.updated_at,
        "failure_reason": error.get("message") if error else None, "retries": view.retries,
        "presigned_get_url": masked(last.get_url) if last and urls else None,
        "presigned_put_url": masked(last.put_url) if last and urls else None,
        "retry_at": view.standing.retry_at, "attempt": last.attempt if last else 0,
        "progress": last.progress if last else None, "progress_total": last.progress_total if last else None,
        "message": last.message if last and last.open else None,
        "warning": _PARTLY if job is not None and job.state.value == "partial" else None,
        "size": task.size, "result_bytes": task.result_bytes, "job_id": job.id if job else None,
    }  # fmt: skip


def masked(url: str | None) -> str | None:
    """What stands behind the question mark opens the object."""
    return None if url is None else f"{url.partition('?')[0]}?…" if "?" in url else url


def detail_shape(
    view: TaskView, attempts: Sequence[Dispatch], notes: Sequence[Row], names: Mapping[str, str], *, urls: bool
) -> schemas.FleetTaskDetail:
    error = view.error
    return schemas.FleetTaskDetail(
        **_task(view, names, urls=urls), settings=view.task.settings, target=view.task.target,
        result_key=view.task.result_key, result_sha256=view.task.result_sha256,
        remedy=error.get("remedy") if error else None,
        attempts=[_attempt(one, names) for one in attempts], notes=[_note(row) for row in notes],
    )  # fmt: skip


def _attempt(one: Dispatch, names: Mapping[str, str]) -> schemas.FleetAttempt:
    told: dict[str, Any] = {name: getattr(one, name) for name in schemas.FleetAttempt.model_fields if name != "worker"}
    if not one.open:
        told["lease_until"] = None
    return schemas.FleetAttempt(**told, worker=names.get(one.worker_id or ""))


def _note(row: Row) -> schemas.FleetNote:
    return schemas.FleetNote(
        attempt=row["attempt"], at=moment(row["at"]), level=row["level"], name=row["name"], message=row["message"],
        fields=from_json(row["fields"]),
    )  # fmt: skip


def presence_shape(worker: Worker, now: datetime, busy: int) -> schemas.FleetPresence:
    return schemas.FleetPresence(**_presence(worker, now, busy))


def _presence(worker: Worker, now: datetime, busy: int) -> dict[str, Any]:
    alive = worker.revoked_at is None and worker.seen_at is not None and worker.seen_at > now - ALIVE
    told = {name: getattr(worker, name) for name in schemas.FleetPresence.model_fields if hasattr(worker, name)}
    return told | {"alive": alive, "busy": busy}


def worker_shape(worker: Worker, now: datetime, sums: Mapping[str, float] | None = None) -> schemas.FleetWorker:
    done = dict(sums or {})
    completed = int(done.get("completed", 0))
    return schemas.FleetWorker(
        **_presence(worker, now, int(done.get("busy", 0))), completed=completed, failed=int(done.get("failed", 0)),
        per_hour=round(completed / 24, 3), busy_seconds=round(done.get("seconds", 0.0), 1),
    )  # fmt: skip

"""Jobs, events and steps as plain values, for --json."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from towpath.core.encoding import decode
from towpath.core.records import Event, Job, Step
from towpath.core.statuses import status_of


def moment(value: datetime | None) -> str | None:
    return None if value is None else value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def plain(record: Any) -> dict[str, Any]:
    """Any record of the engine with its times as text."""
    return {name: moment(value) if isinstance(value, datetime) else value for name, value in asdict(record).items()}


def job_as_dict(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "operation": job.operation,
        "state": job.state.value,
        "status": status_of(job.state),
        "reason": job.reason,
        "queue": job.queue,
        "tenant": job.tenant,
        "lane": job.lane,
        "priority": job.priority,
        "cost": job.cost,
        "key": job.key,
        "parent_id": job.parent_id,
        "root_id": job.root_id,
        "attempt": job.attempt,
        "failures": job.failures,
        "max_attempts": job.max_attempts,
        "progress": {"current": job.progress_current, "total": job.progress_total},
        "children": {
            "total": job.children_total,
            "ok": job.children_ok,
            "partial": job.children_partial,
            "bad": job.children_bad,
        },
        "created_at": moment(job.created_at),
        "run_at": moment(job.run_at),
        "started_at": moment(job.started_at),
        "finished_at": moment(job.finished_at),
        "deadline": moment(job.deadline),
        "worker_id": job.worker_id,
        "payload": job.payload,
        "result": job.result,
        "error": job.error,
    }


def event_as_dict(event: Event) -> dict[str, Any]:
    value = plain(event)
    del value["token"]
    return value


def step_as_dict(step: Step) -> dict[str, Any]:
    value = plain(step)
    value["output"] = decode(value.pop("output_json"))
    del value["job_id"]
    return value

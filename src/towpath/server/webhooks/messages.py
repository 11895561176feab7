"""What a webhook is sent, and the delivery that carries it. Nothing here asks a database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from towpath.core.lifecycle import ENDING_EVENT
from towpath.core.records import Event, Job
from towpath.core.retry import Retry
from towpath.server.schemas.jobs import JobError, job_of
from towpath.server.webhooks.records import Webhook

OPERATION = "towpath.webhook"
QUEUE = "webhooks"
PING = "ping"
RETRY = Retry(limit=8, base=30.0, factor=5.0, max_delay=12 * 3600.0)
"""Eight attempts over about a day: a receiver that is down for a night misses nothing."""
STATE_OF = {name: state.value for state, name in ENDING_EVENT.items()}
"""Ending events, and the state they lead to."""


def message_id(job_id: str, seq: int) -> str:
    """The same for every attempt and every replay, so that a receiver can tell what it has seen."""
    return f"evt_{job_id.replace('-', '')}_{seq}"


def of_ending(webhook: Webhook, job: Job, event: Event) -> dict[str, Any]:
    """The delivery of an ending. The row may have moved on since, but the message tells of this ending."""
    shown = job_of(job).model_copy(update=_as_it_ended(event)) if job.seq != event.seq else job_of(job)
    return _delivery(webhook, message_id(job.id, event.seq), event.name, event.ts, shown.model_dump(mode="json"))


def _as_it_ended(event: Event) -> dict[str, Any]:
    failed = event.fields if event.name == "job.failed" and event.fields else None
    error = JobError.model_construct(**{name: failed.get(name) for name in JobError.model_fields}) if failed else None
    return {"state": STATE_OF[event.name], "finished_at": event.ts, "seq": event.seq, "reason": None, "error": error}


def of_test(webhook: Webhook, number: str, now: datetime) -> dict[str, Any]:
    return _delivery(webhook, f"evt_{number.replace('-', '')}", PING, now, None)


def _delivery(webhook: Webhook, number: str, kind: str, at: datetime | None, job: Any) -> dict[str, Any]:
    created = (at or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"webhook_id": webhook.id, "message": {"id": number, "type": kind, "created_at": created, "job": job}}

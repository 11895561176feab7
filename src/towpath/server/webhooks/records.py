"""Rows of webhooks and their deliveries as Python values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from towpath.core.encoding import decode
from towpath.core.moments import moment
from towpath.store.contract import Row


@dataclass(frozen=True, slots=True)
class Webhook:
    id: str
    tenant: str
    url: str
    states: tuple[str, ...]
    operations: tuple[str, ...] | None
    active: bool
    active_since: datetime
    failing_since: datetime | None
    created_at: datetime
    secret: str = field(repr=False)
    paused_reason: str | None = None
    """Why it is not active, if nobody switched it off."""

    def wants(self, tenant: str, operation: str, state: str, at: datetime) -> bool:
        if tenant != self.tenant or state not in self.states or at < self.active_since:
            return False
        return self.operations is None or operation in self.operations


@dataclass(frozen=True, slots=True)
class Delivery:
    """`id` is the id of the job that delivers it, `job_id` that of the job it tells of; none for a test."""

    id: str
    webhook_id: str
    job_id: str | None
    event: str
    state: str
    attempts: int
    response_status: int | None
    created_at: datetime
    finished_at: datetime | None
    error: str | None


def webhook_from(row: Row) -> Webhook:
    operations = decode(row["operations"])
    return Webhook(
        row["id"], row["tenant"], row["url"], tuple(decode(row["states"])),
        None if operations is None else tuple(operations), bool(row["active"]), moment(row["active_since"]),
        moment(row["failing_since"]), moment(row["created_at"]), row["secret"],
        row["paused_reason"],
    )  # fmt: skip


def delivery_from(row: Row) -> Delivery:
    error = decode(row["error"])
    return Delivery(
        str(row["id"]), row["webhook_id"], None if row["job_id"] is None else str(row["job_id"]), row["event"], row["state"],
        row["attempts"], row["response_status"], moment(row["created_at"]), moment(row["finished_at"]),
        error["message"] if error else None,
    )  # fmt: skip

"""Jobs at batch providers, as rows: one for each that there is at a provider, or may be.

`intended`    on record, nothing has been sent
`calling`     the call that starts it was begun, and nobody has its answer: it may exist or not
`submitted`   its id is known, and it is polled
`unknown`     the call was begun, and the provider cannot say what became of it: a person decides
the others    it has ended
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from towpath.core.encoding import decode


class ProviderState(StrEnum):
    INTENDED = "intended"
    CALLING = "calling"
    SUBMITTED = "submitted"
    UNKNOWN = "unknown"
    COMPLETED = "completed"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        return self in ENDED


ENDED = frozenset({ProviderState.COMPLETED, ProviderState.PARTIAL, ProviderState.FAILED, ProviderState.CANCELLED})
OPEN = frozenset(ProviderState) - ENDED

CALL_GRACE = 5.0
"""Seconds after the longest time that a call to a provider may take, until it is taken to be over."""
CANCEL_EXTERNAL = "towpath.cancel_external"
"""The operation that stops at providers what an ended job has left there."""


@dataclass(slots=True)
class ProviderJob:
    """One row. `name` and `part` say which order of its job it is; `key` is what the provider is told, and never changes."""

    id: str
    job_id: str
    name: str
    part: int
    tenant: str
    provider: str
    model: str
    shard: int
    key: str
    order_json: str
    state: ProviderState = ProviderState.INTENDED
    prepared_json: str | None = None
    called_at: datetime | None = None
    external_id: str | None = None
    status: str | None = None
    polls: int = 0
    transient_failures: int = 0
    answer_json: str | None = None
    error: str | None = None
    output_uri: str | None = None
    polled_at: datetime | None = None
    next_poll_at: datetime | None = None
    deadline: datetime | None = None
    created_at: datetime | None = None
    submitted_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def order(self) -> dict[str, Any]:
        value: dict[str, Any] = decode(self.order_json)
        return value

    @property
    def prepared(self) -> dict[str, Any]:
        value: dict[str, Any] = decode(self.prepared_json) or {}
        return value

    @property
    def answer(self) -> dict[str, Any]:
        """What the provider said last, for people to read."""
        value: dict[str, Any] = decode(self.answer_json) or {}
        return value


PROVIDER_JOB_FIELDS: tuple[str, ...] = tuple(item.name for item in fields(ProviderJob))


def provider_job_column(field_name: str) -> str:
    return {"order_json": "ordered", "prepared_json": "prepared", "answer_json": "answer"}.get(field_name, field_name)

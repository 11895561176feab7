"""One job with everything about it: why it is where it is, its steps, its values."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from towpath.core.records import Step as StepRow
from towpath.engine.asking.explain import Explanation as Told
from towpath.server.schemas.base import Answer, Moment
from towpath.server.schemas.jobs import Job


class Explanation(Answer):
    """Why a job is where it is, in one sentence and in the facts behind it."""

    reason: str
    sentence: str
    position: Annotated[int | None, Field(description="How many jobs are claimed before it; null if it cannot be said.")]
    position_is_more: Annotated[bool, Field(description="There are more than `position`; counting stopped there.")]
    eta_seconds: Annotated[tuple[float, float] | None, Field(description="Until it starts: from … to.")]
    until: Moment | None
    remedy: str | None


class Step(Answer):
    """A recorded step or wait of a job. Times of a step that was retried are those of its first record."""

    name: str
    kind: str
    order: int
    done: bool
    attempt: int
    retries: int
    started_at: Moment | None
    duration_ms: float | None
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_cents: float | None
    until: Moment | None
    created_at: Moment


class JobWorker(Answer):
    id: str
    name: str


class JobDetail(Job):
    """A job with its steps, values and explanation. Values above 256 KiB, or nested more than 200 levels deep, are null here
    and have to be downloaded."""

    payload: Any
    result: Any
    payload_truncated: bool
    result_truncated: bool
    explanation: Explanation
    steps: list[Step]
    cost_cents: Annotated[
        float | None, Field(description="What it has cost so far, all attempts included; null if nothing is known.")
    ]
    unpriced: Annotated[bool, Field(description="Something it used is not in the cost, because no price is known.")]
    tokens_in: Annotated[int | None, Field(description="Of everything it used; null if nobody told.")]
    tokens_out: int | None
    trace: Annotated[str | None, Field(description="The W3C traceparent it was enqueued with.")]
    worker: JobWorker | None


def explanation_of(told: Told) -> Explanation:
    return Explanation(
        reason=told.reason,
        sentence=told.sentence,
        position=told.position,
        position_is_more=told.position_is_more,
        eta_seconds=told.eta_seconds,
        until=told.until,
        remedy=told.remedy,
    )


def step_of(row: StepRow) -> Step:
    assert row.created_at is not None
    return Step(
        name=row.name,
        kind=row.kind,
        order=row.ord,
        done=row.done,
        attempt=row.attempt,
        retries=row.retries,
        started_at=_started(row, row.created_at),
        duration_ms=row.duration_ms,
        model=row.model,
        tokens_in=row.tokens_in,
        tokens_out=row.tokens_out,
        cost_cents=row.cost_cents,
        until=row.until,
        created_at=row.created_at,
    )


def _started(row: StepRow, recorded: datetime) -> datetime:
    """A step is recorded when it ends, a wait when it begins."""
    if row.kind != "step" or row.duration_ms is None:
        return recorded
    return recorded - timedelta(milliseconds=row.duration_ms)

"""Shapes of the fleet API."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from towpath.fleet.messages import HandedTask
from towpath.http.shapes import Answer, Label, Moment, Name, Request, Text, any_case

Id = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$")]
StatusName = Literal["PENDING", "QUEUED", "IN-PROGRESS", "COMPLETED", "FAILED", "CANCELLED"]
AskedStatus = Annotated[StatusName, any_case(StatusName)]
OutcomeName = Literal["completed", "failed", "lost", "expired", "refused", "cancelled"]
Window = Literal["1h", "24h", "7d", "30d"]


class FleetTask(Answer):
    """One object and what remote workers have done with it."""

    task_id: str
    tenant: str
    operation: str
    name: str
    source: Annotated[str, Field(description="The bucket, or empty for this installation's own storage.")]
    object_key: str
    worker_id: str | None
    worker: Annotated[str | None, Field(description="What the worker is called.")]
    status: StatusName
    created_at: Moment
    updated_at: Moment
    failure_reason: str | None
    retries: Annotated[int, Field(description="How often it has failed since it was last given a fresh start.")]
    presigned_get_url: Annotated[str | None, Field(description="The latest one, without its signature; for admins.")]
    presigned_put_url: Annotated[str | None, Field(description="The latest one, without its signature; for admins.")]
    retry_at: Annotated[Moment | None, Field(description="A task that has FAILED is tried again then; null: it is not.")]
    attempt: Annotated[int, Field(description="How often it was sent.")]
    progress: float | None
    progress_total: float | None
    message: Annotated[str | None, Field(description="What its worker said last.")]
    warning: str | None
    size: int | None
    result_bytes: int | None
    job_id: str | None


class FleetAttempt(Answer):
    attempt: int
    worker_id: str | None
    worker: str | None
    made_at: Moment
    sent_at: Moment | None
    claimed_at: Moment | None
    heard_at: Moment | None
    lease_until: Annotated[Moment | None, Field(description="Given up then if nobody is heard of; null when it has ended.")]
    deadline: Moment
    ended_at: Moment | None
    outcome: OutcomeName | None
    kind: Annotated[str | None, Field(description="What went wrong: network, transcription, storage or operation.")]
    reason: str | None


class FleetNote(Answer):
    """A line that the operation has written where it ran."""

    attempt: int
    at: Moment
    level: str
    name: str
    message: str | None
    fields: dict[str, Any] | None


class FleetTaskDetail(FleetTask):
    settings: dict[str, Any]
    target: str
    result_key: str
    result_sha256: str | None
    remedy: Annotated[str | None, Field(description="What to do about the failure.")]
    attempts: list[FleetAttempt]
    notes: list[FleetNote]


class NewFleetTask(Request):
    asset_id: Annotated[Id, Field(description="An uploaded file.")]
    operation: Annotated[Name, Field(description="What is to be done; a worker that knows it takes it.")] = "transcribe_file"
    settings: Annotated[dict[str, Any], Field(default_factory=dict, description="As the operation takes them.")]
    max_attempts: Annotated[int | None, Field(ge=1, le=100, description="How often it may fail; 3 by default.")] = None
    priority: Annotated[int, Field(ge=1, le=3)] = 1


class MadeFleetTask(Answer):
    id: str
    job_id: str
    status: StatusName


class CancelledFleetTask(Answer):
    cancelled: list[str]


class DeletedFleetTask(Answer):
    deleted: int


class FleetPresence(Answer):
    """A remote worker, and whether it is there."""

    id: str
    name: str
    tenant: Annotated[str | None, Field(description="Whose tasks it may have; null: everybody's.")]
    via: Literal["https", "queue"]
    prefix: Annotated[str | None, Field(description="How its token begins.")]
    created_by: str | None
    created_at: Moment
    revoked_at: Moment | None
    seen_at: Moment | None
    alive: Annotated[bool, Field(description="It was heard of in the last two minutes.")]
    host: str | None
    version: str | None
    slots: int
    busy: int
    operations: list[str]


class FleetWorker(FleetPresence):
    """A remote worker, and what it came to."""

    completed: Annotated[int, Field(description="Attempts of the last 24 hours that it completed.")]
    failed: Annotated[int, Field(description="Attempts of the last 24 hours that failed, were refused or given up.")]
    per_hour: Annotated[float, Field(description="Tasks it completed in an hour, over the last 24.")]
    busy_seconds: Annotated[float, Field(description="How long it worked in the last 24 hours, all slots together.")]


class NewFleetWorker(Request):
    name: Annotated[Text, Field(min_length=1, max_length=200)]
    tenant: Annotated[Label | None, Field(description="Whose tasks it may have; null: everybody's.")] = None


class MadeFleetWorker(Answer):
    id: str
    token: Annotated[str, Field(description="Shown once. The worker sends it as `Authorization: Bearer`.")]


class RevokedFleetWorker(Answer):
    revoked: bool


class Claim(Request):
    """A worker asks for a task."""

    wait_seconds: Annotated[float, Field(ge=0, le=60, description="How long to wait for one.")] = 20
    operations: Annotated[list[Name], Field(min_length=1, max_length=100)]
    host: Annotated[Text, Field(max_length=200)] = ""
    version: Annotated[Text, Field(max_length=50)] = ""
    slots: Annotated[int, Field(ge=1, le=1000)] = 1
    busy: Annotated[int, Field(ge=0, le=1000)] = 0


class Claimed(Answer):
    task: Annotated[HandedTask | None, Field(description="Null if there was none.")]


class StatusAnswer(Answer):
    verdict: Literal["accepted", "stale", "foreign", "over"]
    cancelled: Annotated[bool, Field(description="Stop: the task was cancelled, or somebody else has it.")]
    get_url: Annotated[str | None, Field(description="A fresh one, if it was asked for.")]
    put_url: str | None
    urls_until: float | None


class HourOfAttempts(Answer):
    at: Moment
    completed: int
    failed: int
    lost: int


class CauseOfFailure(Answer):
    kind: str
    reason: str
    attempts: int


class WorkerReportRow(Answer):
    worker_id: str
    worker: str | None
    completed: int
    failed: int
    failure_rate: float
    mean_seconds: Annotated[float | None, Field(description="From taking a task up to its result.")]
    busy_share: Annotated[float | None, Field(description="How much of the window it worked, all its slots together.")]


class FleetReport(Answer):
    window: Window
    attempts: int
    completed: int
    failed: int
    failure_rate: float
    retried: Annotated[int, Field(description="Tasks that were sent more than once.")]
    more: Annotated[bool, Field(description="There are more attempts than were looked at.")]
    wait_seconds_p50: Annotated[float | None, Field(description="From sending a task until a worker takes it up.")]
    wait_seconds_p95: float | None
    run_seconds_p50: float | None
    run_seconds_p95: float | None
    trend: Annotated[list[HourOfAttempts], Field(description="By the hour, or by the day from 7d on; oldest first.")]
    causes: list[CauseOfFailure]
    workers: list[WorkerReportRow]


class BucketNotice(Answer):
    taken: Annotated[int, Field(description="Objects that became tasks.")]
    known: Annotated[int, Field(description="Objects that had been told of before.")]
    ignored: Annotated[int, Field(description="Records that are about nothing that becomes a task.")]

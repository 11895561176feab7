"""Jobs as lists and streams show them, and what a request to make one looks like."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from towpath.core.lifecycle import State
from towpath.core.records import Job as JobRow
from towpath.core.statuses import status_of
from towpath.server.schemas.base import Answer, AskedMoment, Label, Moment, Name, Request, any_case

StateName = Literal["queued", "running", "waiting", "succeeded", "partial", "failed", "cancelled"]
StatusName = Literal["QUEUED", "RUNNING", "SUCCEEDED", "PARTIAL", "FAILED", "CANCELLED"]
AskedState = Annotated[StateName, any_case(StateName)]
AskedStatus = Annotated[StatusName, any_case(StatusName)]


class Progress(Answer):
    current: float
    total: float | None


class ChildCounts(Answer):
    """How a job's children stand; `failed` counts cancelled ones too."""

    total: int
    open: int
    succeeded: int
    partial: int
    failed: int


class JobError(Answer):
    """Why a job failed, or why its last attempt did."""

    kind: str
    error_class: str
    message: str
    remedy: str | None


class Subject(Answer):
    """The thing that a job works on."""

    kind: str
    id: str


class Job(Answer):
    """A job's row. `seq` grows with every event of the job: of two versions the one with the higher seq is newer."""

    id: str
    operation: str
    queue: str
    tenant: str
    lane: str
    state: StateName
    status: Annotated[StatusName, Field(description="The state for those who know no `waiting`: it is `RUNNING` too.")]
    reason: Annotated[str | None, Field(description="Why it waits: scheduled, capped, retry, children, signal, sleep …")]
    priority: Annotated[int, Field(ge=0, le=3, description="0 comes first.")]
    cost: Annotated[float, Field(description="How much of its lane's share it uses up.")]
    attempt: Annotated[int, Field(description="Which attempt it is in; 0 before the first.")]
    fence: Annotated[int, Field(description="Grows with every lease and is never reset.")]
    failures: int
    max_attempts: int
    key: str | None
    parent_id: str | None
    root_id: str
    subject: Subject | None
    progress: Progress | None
    children: ChildCounts | None
    error: JobError | None
    worker_id: str | None
    created_at: Moment
    run_at: Moment | None
    started_at: Moment | None
    finished_at: Moment | None
    deadline: Moment | None
    seq: int


class NewJob(Request):
    """A job to make. Only operations that the app marks `public=True` can be asked for."""

    operation: Name
    payload: Annotated[Any, Field(description="Checked against the operation's own type; see GET /api/operations.")] = None
    priority: Annotated[int, Field(ge=0, le=3, description="0 comes first and needs the scope `priority`.")] = 1
    cost: Annotated[
        float,
        Field(gt=0, le=1e9, allow_inf_nan=False, description="Below 1 it takes from others and needs the scope `priority`."),
    ] = 1.0
    run_at: Annotated[AskedMoment | None, Field(description="Not before this moment.")] = None
    delay: Annotated[
        float | None, Field(ge=0, le=3_153_600_000, allow_inf_nan=False, description="Not before so many seconds.")
    ] = None
    key: Annotated[Label | None, Field(description="A live job of the same tenant, operation and key is answered.")] = None
    tenant: Annotated[Label | None, Field(description="For admins: on whose behalf.")] = None


class Retry(Request):
    """How to give a job a fresh start. With a new payload its recorded steps and children are dropped."""

    payload: Annotated[Any, Field(description="Instead of the one it had; null or left out keeps that.")] = None
    keep_steps: Annotated[bool, Field(description="Keep recorded steps although the payload is new.")] = False


class Signal(Request):
    name: Label
    payload: Any = None


class Priority(Request):
    priority: Annotated[int, Field(ge=0, le=3, description="0 comes first and needs the scope `priority`.")]


class Cancelled(Answer):
    """What a cancel did: the job and its children that were not ended yet. Empty if it had ended already."""

    cancelled: list[str]
    was: StateName


class Deleted(Answer):
    deleted: Annotated[int, Field(description="How many jobs went, children included.")]


class Counts(Answer):
    """What is going on now, and what ended in the last 24 hours."""

    queued: int
    scheduled: Annotated[
        int, Field(description="Of those that are queued: their time has not come, nobody could take them.")
    ]
    running: int
    waiting: int
    succeeded_24h: int
    partial_24h: int
    failed_24h: int
    cancelled_24h: int
    capped: Annotated[bool, Field(description="There are more: only the newest jobs were counted.")] = False


def job_of(row: JobRow) -> Job:
    """The row as the API shows it. The short way around validation: the row is our own."""
    return Job.model_construct(**job_fields(row))


def job_fields(row: JobRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "operation": row.operation,
        "queue": row.queue,
        "tenant": row.tenant,
        "lane": row.lane,
        "state": row.state.value,
        "status": status_of(row.state),
        "reason": row.reason,
        "priority": row.priority,
        "cost": row.cost,
        "attempt": attempt_of(row),
        "fence": row.attempt,
        "failures": row.failures,
        "max_attempts": row.max_attempts,
        "key": row.key,
        "parent_id": row.parent_id,
        "root_id": row.root_id,
        "subject": _subject(row),
        "progress": _progress(row),
        "children": _children(row),
        "error": _error(row),
        "worker_id": row.worker_id,
        "created_at": row.created_at,
        "run_at": row.run_at,
        "started_at": row.started_at,
        "finished_at": row.finished_at,
        "deadline": row.deadline,
        "seq": row.seq,
    }


def attempt_of(row: JobRow) -> int:
    """As `ctx.attempt` counts. The failure of a job that has failed is that of its last attempt."""
    if row.attempt == 0:
        return 0
    return row.failures if row.state is State.FAILED and row.failures else row.failures + 1


def _subject(row: JobRow) -> Subject | None:
    return None if row.subject is None else Subject.model_construct(kind=row.subject[0], id=row.subject[1])


def _progress(row: JobRow) -> Progress | None:
    if row.progress_current is None:
        return None
    return Progress.model_construct(current=row.progress_current, total=row.progress_total)


def _children(row: JobRow) -> ChildCounts | None:
    if not row.children_total:
        return None
    return ChildCounts.model_construct(
        total=row.children_total,
        open=row.children_open,
        succeeded=row.children_ok,
        partial=row.children_partial,
        failed=row.children_bad,
    )


def _error(row: JobRow) -> JobError | None:
    error = row.error
    if error is None:
        return None
    return JobError.model_construct(
        kind=str(error.get("kind", "unknown")),
        error_class=str(error.get("error_class", "")),
        message=str(error.get("message", "")),
        remedy=error.get("remedy"),
    )

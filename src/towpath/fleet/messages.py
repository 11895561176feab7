"""What orchestrators and remote workers tell each other, over a queue or over HTTPS: JSON of these shapes.

A message may come twice, late, in another order, or from somebody who makes it up. So each says which task and attempt it
is about, has a number that grows, and shows the secret that came with the task.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from towpath import SchemaInvalid, plain_text

HEARTBEAT_SECONDS = 15.0
"""How often a worker says that it is there, unless it says how often itself."""
MISSED = 4
"""So many heartbeats may be missing before a worker is given up."""

PROGRESS, COMPLETED, FAILED, URL_EXPIRED = "IN-PROGRESS", "COMPLETED", "FAILED", "URL_EXPIRED"
LOST = "LOST"
"""What nobody reports: a worker was given up."""

Status = Literal["IN-PROGRESS", "COMPLETED", "FAILED", "URL_EXPIRED"]
Category = Literal["transient", "rate_limited", "schema_invalid", "fatal"]
FailureKind = Literal["network", "transcription", "storage", "operation"]
"""What of a task went wrong: getting at its objects, hearing them, storing the result, or anything else."""

M = TypeVar("M", bound=BaseModel)
MOST_MESSAGE = 256 * 1024
"""What a queue takes, and so no worker sends more over HTTPS."""


def _any_case(value: object) -> object:
    """`in_progress` and `In-Progress` are the same."""
    if not isinstance(value, str):
        return value
    name = value.upper().replace("_", "-")
    return URL_EXPIRED if name == "URL-EXPIRED" else name


def _plain(text: str) -> str:
    return plain_text(text, 2000)


Text = Annotated[str, AfterValidator(_plain)]
Id = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9._:-]+$")]
Seconds = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]


class Said(BaseModel):
    """Something that a worker says. A field that nobody here knows was meant to do something: orchestrators are upgraded
    first."""

    model_config = ConfigDict(extra="forbid")


class Failure(Said):
    category: Category = "transient"
    kind: FailureKind = "operation"
    error_class: Annotated[Text, Field(max_length=200)] = "Failed"
    message: Text = ""
    remedy: Text | None = None


class Output(Said):
    """The result as the worker has stored it."""

    size: Annotated[int, Field(ge=0, le=10**15)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Used(Said):
    model: Annotated[Text, Field(max_length=200)] | None = None
    tokens_in: Annotated[int, Field(ge=0, le=10**12)] | None = None
    tokens_out: Annotated[int, Field(ge=0, le=10**12)] | None = None
    cost_cents: Amount | None = None


class Note(Said):
    """A line that the operation has written. Its number makes it be stored once."""

    number: Annotated[int, Field(ge=1, le=10**9)]
    name: Annotated[Text, Field(min_length=1, max_length=200)]
    message: Text | None = None
    level: Literal["debug", "info", "warning", "error"] = "info"
    fields: dict[str, Any] | None = None


class StatusReport(Said):
    kind: Literal["task"] = "task"
    task: Id
    attempt: Annotated[int, Field(ge=1, le=10**9)]
    secret: Annotated[str, Field(max_length=200)]
    worker_id: Id
    sequence: Annotated[int, Field(ge=1, le=10**15)]
    status: Annotated[Status, BeforeValidator(_any_case)]
    heartbeat_seconds: Annotated[float, Field(ge=1, le=3600, allow_inf_nan=False)] | None = None
    progress: Amount | None = None
    total: Amount | None = None
    message: Text | None = None
    notes: Annotated[list[Note], Field(max_length=100)] = []
    used: Annotated[list[Used], Field(max_length=100)] = []
    failure: Failure | None = None
    output: Output | None = None
    refresh: bool = False
    """The URLs end soon, and are needed longer."""


class WorkerReport(Said):
    """A worker says that it is there, whether it has work or not."""

    kind: Literal["worker"] = "worker"
    worker_id: Id
    name: Annotated[Text, Field(max_length=200)] = ""
    host: Annotated[Text, Field(max_length=200)] = ""
    version: Annotated[Text, Field(max_length=50)] = ""
    slots: Annotated[int, Field(ge=0, le=10_000)] = 1
    busy: Annotated[int, Field(ge=0, le=10_000)] = 0
    operations: Annotated[list[Annotated[Text, Field(max_length=200)]], Field(max_length=100)] = []


class HandedTask(BaseModel):
    """What a worker needs to know, and nothing else: no database, no credentials of a cloud."""

    task: Id
    attempt: int
    operation: str
    settings: dict[str, Any]
    name: str
    size: int | None
    etag: str
    sha256: str | None = None
    """Of the object, where it is known beforehand."""
    get_url: str
    put_url: str
    control_url: str | None = None
    urls_until: float
    deadline: float
    """Both are seconds since 1970."""
    secret: str
    heartbeat_seconds: float = HEARTBEAT_SECONDS


def read_status(body: str | bytes) -> StatusReport | WorkerReport:
    """SchemaInvalid for what is neither."""
    told = _object(body)
    return _model(WorkerReport, told) if told.get("kind") == "worker" else _model(StatusReport, told)


def read_task(body: str | bytes) -> HandedTask:
    return _model(HandedTask, _object(body))


def _object(body: str | bytes) -> dict[str, Any]:
    if len(body) > MOST_MESSAGE:
        raise SchemaInvalid(f"the message has {len(body):,} bytes, more than any of ours")
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        raise SchemaInvalid("the message is not one of ours: it is no JSON") from None
    if not isinstance(told, dict):
        raise SchemaInvalid("the message is not one of ours: it is no JSON object")
    return told


def _model(kind: type[M], told: dict[str, Any]) -> M:
    try:
        return kind.model_validate(told)
    except ValidationError as error:
        raise SchemaInvalid(f"the message is not one of ours: {_first_of(error)}") from None


def _first_of(error: ValidationError) -> str:
    """Where and what, without the values: one of them may be the secret."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    return f"{'.'.join(str(one) for one in first['loc'])}: {first['msg']}"

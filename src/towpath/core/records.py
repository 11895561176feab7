"""The rows of the engine as Python values. A Job is the whole row; nothing about a job lives anywhere else."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from typing import Any

from towpath.core.encoding import decode
from towpath.core.lifecycle import LIVE, RARE, TERMINAL, State

PRIORITIES = (0, 1, 2, 3)
DEFAULT_PRIORITY = 1
DEFAULT_QUEUE = "default"
DEFAULT_TENANT = "default"

# What a lane's cap counts (column `gate`).
GATE_NONE, GATE_SLOTS, GATE_ROOTS = 0, 1, 2


def gate_of(max_slots: int | None, max_roots: int | None) -> int:
    """What the gate of a lane with these caps counts."""
    if max_slots is not None:
        return GATE_SLOTS
    return GATE_ROOTS if max_roots is not None else GATE_NONE


DELETED_SEQ = 2**31 - 1
"""The number of the event that tells of a job's deletion, which nothing can follow. The view `job_event` says it, too."""

Subject = tuple[str, str]
"""Kind and id of the thing that a job works on, such as `("recording", "0198…")`."""


def subject(kind: str | None, subject_id: str | None) -> Subject | None:
    return None if kind is None or subject_id is None else (kind, subject_id)


def stored(postgres: str, default: Any) -> Any:
    """A field whose column on PostgreSQL is not of the type that its Python type suggests."""
    return field(default=default, metadata={"postgres": postgres})


@dataclass
class Job:
    """One row of the job table. Its fields are the list of columns: `store/columns.py` makes everything else of them.

    `attempt` is the fence: it grows with every lease and is never reset. `failures` is the budget, compared with
    `max_attempts` and reset by a requeue. `pass_` is the virtual finish time that fair order sorts by.
    """

    id: str = field(metadata={"postgres": "uuid"})
    queue: str
    operation: str
    tenant: str = DEFAULT_TENANT
    lane: str = DEFAULT_TENANT
    priority: int = stored("smallint", DEFAULT_PRIORITY)
    cost: float = 1.0
    pass_: float = 0.0
    parent_id: str | None = stored("uuid", None)
    root_id: str = stored("uuid", "")
    child_group: str | None = None
    key: str | None = None

    state: State = State.QUEUED
    ready: bool = False
    gate: int = stored("smallint", GATE_NONE)
    parked: bool = False
    reason: str | None = None
    run_at: datetime | None = None
    deadline: datetime | None = None

    attempt: int = 0
    failures: int = 0
    retry_laters: int = 0
    max_attempts: int = 3
    wakes: int = 0
    seq: int = 1
    steps: int = 0

    leased: bool = False
    lease_until: datetime | None = None
    worker_id: str | None = None

    payload_json: str = stored("json", "null")
    result_json: str | None = stored("json", None)
    error_json: str | None = stored("json", None)
    error_kind: str | None = None
    error_group: str | None = None

    progress_current: float | None = None
    progress_total: float | None = None
    children_total: int = 0
    children_ok: int = 0
    children_partial: int = 0
    children_bad: int = 0
    await_group: str | None = None
    await_open: int = 0
    closing: bool = False

    trace: str | None = None
    subject_kind: str | None = None
    subject_id: str | None = None
    created_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None

    # What the indexes of rare conditions are about, see `derive`. A plain job has neither from its claim to its end.
    rare_state: str | None = None
    live_key: str | None = None

    def derive(self) -> None:
        """Sets what follows from the rest of the row, before it is written."""
        self.rare_state = self.state.value if self.state in RARE else None
        self.live_key = self.key if self.live else None
        # An ended job no longer counts for its lane, but a requeue has to know that the lane had a gate.
        self.gate = abs(self.gate) if self.live or self.leased else -abs(self.gate)

    @property
    def payload(self) -> Any:
        return decode(self.payload_json)

    @property
    def result(self) -> Any:
        return decode(self.result_json)

    @property
    def error(self) -> dict[str, Any] | None:
        value: dict[str, Any] | None = decode(self.error_json)
        return value

    @property
    def subject(self) -> Subject | None:
        """What it works on."""
        return subject(self.subject_kind, self.subject_id)

    @property
    def live(self) -> bool:
        return self.state in LIVE

    @property
    def ended(self) -> bool:
        return self.state in TERMINAL

    @property
    def children_ended(self) -> int:
        return self.children_ok + self.children_partial + self.children_bad

    @property
    def children_open(self) -> int:
        return self.children_total - self.children_ended

    def counters(self) -> dict[str, Any]:
        """Children and progress as events carry them; folding the events gives the row again."""
        return {
            "total": self.children_total,
            "ok": self.children_ok,
            "partial": self.children_partial,
            "bad": self.children_bad,
            "current": self.progress_current,
            "of": self.progress_total,
        }


JOB_FIELDS: tuple[str, ...] = tuple(item.name for item in fields(Job))


def column(field_name: str) -> str:
    """The column behind a field of Job; three fields have a suffix in Python because of what their names mean here."""
    return {"pass_": "pass", "payload_json": "payload", "result_json": "result", "error_json": "error"}.get(
        field_name, field_name
    )


JOB_COLUMNS: tuple[str, ...] = tuple(column(name) for name in JOB_FIELDS)


@dataclass(slots=True)
class NewJob:
    """A job about to be inserted: what enqueue knows before the database has stamped it."""

    id: str
    operation: str
    queue: str
    payload_json: str
    tenant: str = DEFAULT_TENANT
    lane: str = DEFAULT_TENANT
    priority: int = DEFAULT_PRIORITY
    cost: float = 1.0
    run_at: datetime | None = None
    delay: float | None = None
    key: str | None = None
    max_attempts: int = 3
    parent_id: str | None = None
    root_id: str | None = None
    child_group: str | None = None
    trace: str | None = None
    subject_kind: str | None = None
    subject_id: str | None = None
    mould: dict[str, Any] | None = field(default=None, compare=False, repr=False)
    """What it has in common with others of one bulk, as the fields of a Job. Jobs that share this very object are known to
    differ in nothing but their ids and payloads."""

    def as_job(self) -> Job:
        """The job as enqueued. Its place in the queue is the database's business: `get` or `explain` tell."""
        job = Job.__new__(Job)  # what is not set is a default of the class
        if self.mould is not None and self.root_id is None:
            job.__dict__ = {**self.mould, "id": self.id, "root_id": self.id, "payload_json": self.payload_json}
            return job
        job.__dict__ = dict(zip(_IN_BOTH, _both_of(self), strict=True))
        job.root_id = self.root_id or self.id
        return job


_IN_BOTH = tuple(item.name for item in fields(NewJob) if item.name in JOB_FIELDS)
_both_of = attrgetter(*_IN_BOTH)


@dataclass(slots=True)
class Claimed:
    """A job as its worker needs it: the row at the moment of the claim.

    The fields without a default are told of every job. Those with one are only told of jobs in which one of them differs
    from it, so that most claims do without them; of `lane` and `root_id` that is the tenant and the job's own id.
    """

    queue: str
    id: str
    operation: str
    tenant: str
    priority: int
    pass_: float
    attempt: int
    max_attempts: int
    payload_json: str
    lane: str
    root_id: str
    parent_id: str | None = None
    failures: int = 0
    retry_laters: int = 0
    wakes: int = 0
    steps: int = 0
    gate: int = 0
    children_total: int = 0
    await_group: str | None = None
    await_open: int = 0
    progress_current: float | None = None
    progress_total: float | None = None
    trace: str | None = None
    subject_kind: str | None = None
    subject_id: str | None = None

    @property
    def subject(self) -> Subject | None:
        return subject(self.subject_kind, self.subject_id)

    @property
    def solo(self) -> bool:
        """Nobody else's row is touched when it ends."""
        return self.parent_id is None and self.gate == 0 and self.children_total == 0


@dataclass(slots=True)
class Enqueued:
    """What became of one NewJob: its own row, or the live job that already held its key."""

    id: str
    created: bool


@dataclass(slots=True)
class Event:
    """One line of a job's history. `seq` orders the events of one job without gaps."""

    job_id: str
    seq: int
    attempt: int
    name: str
    level: str = "info"
    message: str | None = None
    fields: dict[str, Any] | None = None
    ts: datetime | None = None
    token: str | None = None  # where in the stream it stands; set by the reader


@dataclass(slots=True)
class Step:
    """A recorded step: its output answers every later entry of the same job."""

    job_id: str
    name: str
    kind: str
    ord: int = 0
    done: bool = True
    output_json: str | None = None
    attempt: int = 0
    retries: int = 0
    duration_ms: float | None = None
    model: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_cents: float | None = None
    until: datetime | None = None
    created_at: datetime | None = None


STEP_FIELDS: tuple[str, ...] = tuple(item.name for item in fields(Step))


def step_column(field_name: str) -> str:
    return "output" if field_name == "output_json" else field_name


@dataclass(slots=True)
class Lane:
    """A tenant's (or `lane=`'s) share of a queue: its weight, and its cap on slots or on open root jobs."""

    queue: str
    lane: str
    weight: float = 1.0
    max_slots: int | None = None
    max_roots: int | None = None

    @property
    def gate(self) -> int:
        return gate_of(self.max_slots, self.max_roots)


@dataclass(slots=True)
class WorkerRow:
    """A worker process as the others see it."""

    id: str
    name: str
    queues: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    concurrency: int = 0
    running: int = 0
    version: str = ""
    started_at: datetime | None = None
    seen_at: datetime | None = None
    stopped_at: datetime | None = None
    alive_until: datetime | None = None
    process: str | None = None
    """Which process it is, for others on the same machine."""


@dataclass(slots=True)
class Schedule:
    name: str
    cron: str
    timezone: str
    operation: str
    payload_json: str
    tenant: str = DEFAULT_TENANT
    priority: int = DEFAULT_PRIORITY
    paused: bool = False
    next_fire: datetime | None = None
    last_fire: datetime | None = None
    last_job_id: str | None = None
    origin: str = "code"
    """Who keeps it: `code`, or `people`."""
    retired: bool = False
    """No running process declares it any more: it does not fire."""

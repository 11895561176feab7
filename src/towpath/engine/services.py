"""What app, worker and contexts share: the open store and everything that stands on it."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any

from towpath.blobs import BlobStore
from towpath.config import Settings
from towpath.core.encoding import encode
from towpath.core.errors import SchemaInvalid
from towpath.core.ids import uuid7, uuid7s
from towpath.core.prospects import InLine, Work
from towpath.core.records import DEFAULT_PRIORITY, DEFAULT_TENANT, PRIORITIES, NewJob, Subject
from towpath.engine.budgets import Budgets
from towpath.engine.group_commit import GroupCommit
from towpath.engine.providers import Providers
from towpath.engine.registry import Operation, Registry, check_label, check_name, check_subject
from towpath.engine.resources import Resources
from towpath.engine.values import Values, blob_prefix, payload_key
from towpath.store.contract import Store
from towpath.transports import Transport

Workload = Callable[[Sequence[InLine]], Awaitable[Mapping[str, Work]]]
"""Jobs -> how much work each is, by job id. Those that are left out take what their operation usually takes."""

Turn = Callable[[], Awaitable[float]]
"""What a loop does each time; it answers how many seconds to wait until the next."""

_MOST_STEP_THREADS = 128
_A_CENTURY = 100 * 365 * 86400.0


_rest_of = attrgetter(*(item.name for item in fields(NewJob)[4:]))  # what follows id, operation, queue and payload


class Mould:
    """Everything about a job but its id and payload, checked."""

    __slots__ = ("_known", "_name", "_queue", "_rest", "_values", "_what")

    def __init__(self, values: Values, known: Operation | None, example: NewJob) -> None:
        self._values, self._known, self._name, self._queue = values, known, example.operation, example.queue
        example.mould = vars(example.as_job())
        self._rest: tuple[Any, ...] = _rest_of(example)
        self._what = f"the payload of {example.operation}"

    def cast(self, job_id: str, payload: Any) -> NewJob:
        text = self._known.check(payload) if self._known else encode(payload, what=self._what)
        return NewJob(job_id, self._name, self._queue, self._values.check(text, self._what), *self._rest)


@dataclass(frozen=True, slots=True)
class Keep:
    """How long ended jobs stay, in days; 0 is for ever."""

    succeeded_days: float
    failed_days: float


@dataclass(slots=True)
class Services:
    settings: Settings
    registry: Registry
    store: Store
    transport: Transport
    blobs: BlobStore
    values: Values
    budgets: Budgets
    resources: Resources
    group_commit: GroupCommit
    retention: dict[str, Keep]
    keepers: dict[str, str]
    """Folders of the blob store -> the query that knows whose ids there are; see `tending/sweeping.py`."""
    database: str
    """What the blobs of this database are told by from those of others."""
    declared: list[str]
    """The schedules that the code of this process declares."""
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_MOST_STEP_THREADS, "towpath-step"))
    """For plain functions as steps. Not asyncio's own few threads: blob stores and wind-downs need those."""
    workloads: Mapping[str, Workload] = field(default_factory=dict)
    """Kinds of subjects -> who knows how much work a job on one of them is."""
    providers: Providers = field(default_factory=lambda: Providers({}))
    """Batch providers that orders may be placed with."""
    explainers: Mapping[str, Callable[..., Awaitable[Any]]] = field(default_factory=dict)
    """Signals -> who can say of a job why it waits for one, see `asking/explain.py`."""
    loops: Mapping[str, Turn] = field(default_factory=dict)
    """What slices have every worker do beside its jobs, by name."""
    declared_by: str = field(default_factory=uuid7)
    """What this process declares its schedules under."""

    def new_job(self, operation: str, payload: Any = None, **options: Any) -> NewJob:
        """Checks everything that can be checked before the database is asked."""
        return self.mould(operation, **options).cast(uuid7(), payload)

    def new_jobs(self, items: Sequence[Mapping[str, Any]], trace: str | None) -> list[NewJob]:
        """`new_job` for many. What they have in common is looked at once."""
        moulds: dict[Any, Mould] = {}
        made: list[NewJob] = []
        for job_id, item in zip(uuid7s(len(items)), items, strict=True):
            try:
                options = {**item}
            except TypeError:
                raise SchemaInvalid(f"every job is a dict, not {type(item).__name__}", path=f"[{len(made)}]") from None
            payload = options.pop("payload", None)
            try:
                mould = moulds.get(kind := tuple(options.items()))
            except TypeError:  # something that has no hash: an option of the wrong type, most likely
                mould = kind = None
            if mould is None:
                if "operation" not in options:
                    raise SchemaInvalid("every job needs the name of its operation", path=f"[{len(made)}].operation")
                mould = moulds[kind] = self.mould(**{"trace": trace, **options})
            made.append(mould.cast(job_id, payload))
        return made

    def mould(  # noqa: PLR0913  (it is enqueue's signature, spelled out so that a misspelt option is refused)
        self,
        operation: str,
        *,
        tenant: str = DEFAULT_TENANT,
        lane: str | None = None,
        priority: int = DEFAULT_PRIORITY,
        cost: float = 1.0,
        run_at: datetime | None = None,
        delay: float | None = None,
        key: str | None = None,
        queue: str | None = None,
        max_attempts: int | None = None,
        trace: str | None = None,
        subject: Subject | None = None,
    ) -> Mould:
        known = self.registry.get(operation) if queue is not None else self.registry.require(operation)
        if max_attempts is None:
            max_attempts = known.retry.limit if known else 3
        kind, subject_id = check_subject(subject)
        return Mould(
            self.values,
            known,
            NewJob(
                "",
                check_name("an operation's name", operation),
                check_name("a queue's name", known.queue if queue is None and known else queue),
                "",
                tenant=check_label("tenant", tenant),
                lane=check_label("lane", lane if lane is not None else tenant),
                priority=check_priority(priority),
                cost=_cost(cost),
                run_at=_moment(run_at),
                delay=_delay(delay),
                key=check_label("key", key) if key is not None else None,
                max_attempts=_limit(max_attempts),
                trace=check_label("trace", trace) if trace is not None else None,
                subject_kind=kind,
                subject_id=subject_id,
            ),
        )

    async def place_payload(self, job: NewJob) -> NewJob:
        """Moves a large payload to the blob store, before the row that will name it."""
        job.payload_json = await self.values.place(job.payload_json, payload_key(job.id))
        return job

    async def drop_payloads(self, job_ids: Iterable[str]) -> None:
        """Of jobs that did not come to be."""
        for job_id in job_ids:
            await self.blobs.delete_prefix(blob_prefix(job_id))


@lru_cache(maxsize=4096)  # the same few tenants come by a million times
def check_priority(value: int) -> int:
    if value not in PRIORITIES:
        raise SchemaInvalid(f"must be 0 (first) to 3 (last), got {value!r}", path="priority")
    return value


def _cost(value: Any) -> float:
    if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0):
        raise SchemaInvalid(f"must be a number above zero, got {value!r}", path="cost")
    return float(value)


def _limit(value: Any) -> int:
    if not isinstance(value, int) or value < 1:
        raise SchemaInvalid(f"must be 1 or more, got {value!r}", path="max_attempts")
    return value


def _delay(value: Any) -> float | None:
    if value is not None and not (isinstance(value, int | float) and 0 <= value <= _A_CENTURY):
        raise SchemaInvalid(f"must be zero or more seconds, and no more than a century, got {value!r}", path="delay")
    return value


def _moment(value: Any) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise SchemaInvalid(f"must be a datetime with a time zone, e.g. datetime.now(UTC), got {value!r}", path="run_at")
    return value.astimezone(UTC)

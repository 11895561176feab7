"""What the engine asks of a database. `tests/contracts` runs one suite over every implementation.

The rules about jobs are not here and not in the implementations: `ledger.py` plays them on any `Tx`. An implementation
brings transactions, a few hot statements, the event stream and the doorbell.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any, Protocol, TypeVar

from towpath.core.records import Enqueued, Event, Job, NewJob, WorkerRow
from towpath.core.transitions import Transition
from towpath.store.sql import Queries

T = TypeVar("T")
Row = Mapping[str, Any]


class Tx(Protocol):
    """One open transaction.

    Units of work are `async def unit(tx)`. On SQLite they run in the writer's thread without ever suspending, so they
    must await nothing but the transaction itself.
    """

    dialect: str
    now: datetime
    rings: set[str]
    """Queues that got something to do; the doorbell is rung for them after the commit."""
    cancelled: list[str]
    """Workers (ids) that hold a job this transaction cancelled."""
    told: bool
    """Whether there is news for streams of events, in this process and others; they are woken after the commit."""

    async def fetch(self, query: str, /, **params: Any) -> Sequence[Row]: ...
    async def execute(self, query: str, /, **params: Any) -> int: ...
    async def fetch_sql(self, sql: str, *params: Any) -> Sequence[Row]: ...
    async def execute_sql(self, sql: str, *params: Any) -> int: ...
    async def jobs(self, query: str, /, **params: Any) -> list[Job]: ...
    async def write_jobs(self, changes: list[tuple[Job, Job, list[str]]]) -> None: ...
    async def insert_jobs(self, jobs: Sequence[NewJob]) -> list[Enqueued]: ...
    async def insert_events(self, events: Sequence[Event]) -> None: ...


Unit = Callable[[Tx], Awaitable[T]]


@dataclass(slots=True)
class Claimed:
    """A job as its worker needs it: the row at the moment of the claim."""

    id: str
    queue: str
    operation: str
    tenant: str
    lane: str
    priority: int
    pass_: float
    attempt: int
    failures: int
    retry_laters: int
    max_attempts: int
    payload_json: str
    parent_id: str | None
    root_id: str
    wakes: int
    steps: int
    gate: int
    children_total: int
    await_group: str | None
    await_open: int
    progress_current: float | None
    progress_total: float | None
    trace: str | None

    @property
    def solo(self) -> bool:
        """Nobody else's row is touched when it ends."""
        return self.parent_id is None and self.gate == 0 and self.children_total == 0


CLAIMED_COLUMNS: tuple[str, ...] = (
    "id", "queue", "operation", "tenant", "lane", "priority", "pass", "attempt", "failures", "retry_laters",
    "max_attempts", "payload", "parent_id", "root_id", "wakes", "steps", "gate", "children_total", "await_group",
    "await_open", "progress_current", "progress_total", "trace",
)  # fmt: skip


# The order in which claimed jobs are begun; the statements that claim them answer in any order.
FAIR_ORDER = attrgetter("priority", "pass_", "id")


@dataclass(slots=True)
class Beat:
    """What a heartbeat learned: leases that are no longer ours, and why."""

    lost: dict[str, str] = field(default_factory=dict)


class Heart(Protocol):
    """A connection of its own for renewing leases; used from the heartbeat thread only."""

    def beat(self, worker: WorkerRow, leases: Sequence[tuple[str, int]], lease_seconds: float) -> Beat: ...
    def close(self) -> None: ...


class Bell(Protocol):
    """The store's own way of telling other processes; `transports/database.py` makes a transport of it."""

    def ring(self, topics: Iterable[str]) -> None: ...
    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]: ...


class Store(Protocol):
    dialect: str
    url: str
    queries: Queries
    ring: Callable[[Iterable[str]], None]
    """Called with the topics of every commit. The store's own bell, until the engine puts a transport there."""

    @property
    def bell(self) -> Bell: ...

    async def open(self) -> None: ...
    async def close(self) -> None: ...

    async def run(self, unit: Unit[T]) -> T:
        """Runs a unit in a transaction, commits, rings; the whole unit is run again after a serialization failure."""
        ...

    async def read(self, unit: Unit[T]) -> T:
        """Runs a unit that only reads."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[Tx]:
        """The caller's own transaction."""
        ...

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[Enqueued]: ...
    async def claim(
        self, queue: str, cursors: Mapping[int, float], limit: int, worker_id: str, lease_seconds: float
    ) -> list[Claimed]: ...
    async def advance(self, queue: str, floors: Mapping[int, float]) -> dict[int, float]:
        """Writes how far claims have come; answers the floors now in force."""
        ...

    async def settle(self, transitions: Sequence[Transition]) -> list[str | None]:
        """Ends or hands back jobs, each on its own: None where it happened, else why the fence held."""
        ...

    async def turn(
        self,
        transitions: Sequence[Transition],
        queue: str,
        cursors: Mapping[int, float],
        limit: int,
        worker_id: str,
        lease_seconds: float,
    ) -> tuple[list[str | None], list[Claimed]]:
        """`settle`, then `claim`: in one commit where every settle is a plain success, so that a worker pays for one."""
        ...

    def heart(self) -> Heart: ...

    async def stream_start(self) -> str: ...
    async def stream_since(self, cursor: str, limit: int = 5000) -> tuple[list[Event], str, bool]:
        """Events committed since the cursor, the next cursor, and whether there may be more right away."""
        ...

    def follow(self) -> AsyncIterator[None]:
        """Yields whenever there may be new events."""
        ...

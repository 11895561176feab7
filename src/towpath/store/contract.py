"""What the engine asks of a database. `tests/contracts` runs one suite over every implementation.

The rules about jobs are not here and not in the implementations: `core/verbs.py` has them, and `ledger.py` applies them in
any `Tx`. An implementation brings transactions, a few hot statements, the event stream and the doorbell.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Protocol, TypeVar

from pydantic_core import from_json

from towpath.core.encoding import encode
from towpath.core.records import PRIORITIES, Enqueued, Event, Job, NewJob, WorkerRow
from towpath.core.records import Claimed as Claimed  # noqa: PLC0414  (it is part of the contract)
from towpath.core.transitions import Transition
from towpath.store.columns import ALWAYS_CLAIMED, CLAIMED_TIMES, USUAL
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
    wake_streams: bool
    """Whether it wrote events: streams of them, in this process and others, are woken after the commit."""

    async def fetch(self, query: str, /, **params: Any) -> Sequence[Row]: ...
    async def execute(self, query: str, /, **params: Any) -> int: ...
    async def execute_many(self, query: str, rows: Sequence[dict[str, Any]]) -> None: ...
    async def execute_all(self, queries: tuple[str, ...], /, **params: Any) -> None:
        """Changes that do not depend on each other, in one round trip where there are any. None may read what one before it
        has changed."""
        ...

    async def fetch_sql(self, sql: str, *params: Any) -> Sequence[Row]: ...
    async def execute_sql(self, sql: str, *params: Any) -> int: ...
    async def jobs(self, query: str, /, **params: Any) -> list[Job]: ...
    async def write_jobs(self, changes: list[tuple[Job, Job, list[str]]]) -> None: ...
    async def insert_jobs(self, jobs: Sequence[NewJob]) -> list[Enqueued]: ...
    async def insert_events(self, events: Sequence[Event]) -> None: ...


Unit = Callable[[Tx], Awaitable[T]]


EVERYWHERE: Mapping[int, float] = dict.fromkeys(PRIORITIES, float("-inf"))


@dataclass(slots=True)
class Claim:
    """What a worker asks for: so many jobs of a queue, under a lease.

    In each band it looks at jobs from the cursor's pass on; of those of that very pass, at those with an id from `after` on.
    """

    queue: str
    limit: int
    worker_id: str
    lease_seconds: float
    cursors: Mapping[int, float] = field(default_factory=lambda: EVERYWHERE)
    after: Mapping[int, str] = field(default_factory=dict)


def claimed(queue: str, row: Sequence[Any]) -> Claimed:
    """From a row that a claiming statement answers, see `store/columns.py`: first the columns that every job comes with,
    then JSON of all others, or None for a job in which those are as in most: no family, no past, no lane of its own. A
    column costs the database and the driver for every job."""
    more = row[ALWAYS_CLAIMED]
    return Claimed(queue, *row[:ALWAYS_CLAIMED], *((row[_LANE], row[_ROOT]) if more is None else _unusual(more)))


_LANE, _ROOT = USUAL


def _with_times(more: str) -> list[Any]:
    values: list[Any] = from_json(more)
    for at in CLAIMED_TIMES:
        if values[at] is not None:
            values[at] = datetime.fromtimestamp(values[at], UTC)
    return values


_unusual = _with_times if CLAIMED_TIMES else from_json  # nothing is to be paid for what no column needs


# The order in which claimed jobs are begun; the statements that claim them answer in any order.
_FAIR_ORDER = attrgetter("priority", "pass_", "id")


UNDECIDED = "neither settled nor refused"
"""What `Store.turn` answers of a transition that its one commit left alone, because the job's row was not as a plain success
needs it. It has neither happened nor been refused; `Store.settle` decides."""


class ClaimedBatch:
    """Claimed jobs in fair order. They are made of their rows when somebody looks at them: a worker with many slots sends
    its next claim first, so that the database is not kept waiting."""

    __slots__ = ("_count", "_jobs", "_queue", "_rows")

    def __init__(self, queue: str, rows: Sequence[Sequence[Any]] | str = (), count: int | None = None) -> None:
        """Rows, or JSON of so many."""
        self._queue, self._rows = queue, rows
        self._count = len(rows) if count is None else count
        self._jobs: list[Claimed] | None = None if self._count else []

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Claimed]:
        return iter(self.jobs)

    @property
    def jobs(self) -> list[Claimed]:
        if self._jobs is None:
            rows = from_json(self._rows) if isinstance(self._rows, str) else self._rows
            self._jobs = sorted([claimed(self._queue, row) for row in rows], key=_FAIR_ORDER)
        return self._jobs


@dataclass(slots=True)
class Renewed:
    """What a heartbeat learned: leases that are no longer ours, and why; and what time it is in the database."""

    lost: dict[str, str] = field(default_factory=dict)
    now: datetime | None = None


def sign_of_life(worker: WorkerRow, now: Any, until: Any) -> dict[str, Any]:
    """What `put_worker` asks for. Unless there is another beat, the worker is taken to be alive until the leases that this
    one renews run out."""
    return {
        "id": worker.id, "name": worker.name, "queues": encode(worker.queues), "operations": encode(worker.operations),
        "concurrency": worker.concurrency, "running": worker.running, "version": worker.version,
        "process": worker.process, "now": now, "alive_until": until,
    }  # fmt: skip


class Heart(Protocol):
    """A connection of its own for renewing leases; used from the heartbeat thread only."""

    def beat(self, worker: WorkerRow, leases: Sequence[tuple[str, int]], lease_seconds: float) -> Renewed: ...
    def close(self) -> None: ...


class Bell(Protocol):
    """The store's own way of telling other processes; `transports/database.py` makes a transport of it, and opens it."""

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    def ring(self, topics: Iterable[str]) -> None: ...
    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]: ...


class Store(Protocol):
    dialect: str
    url: str
    queries: Queries
    ring: Callable[[Iterable[str]], None]
    """Called with the topics of every commit. The store's own bell, until the engine puts a transport there."""
    followed: Callable[[], object]
    """Called when somebody begins to follow events that others may write. The engine then listens for them."""

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
    async def claim(self, claim: Claim) -> ClaimedBatch:
        """Takes the first jobs in fair order."""
        ...

    async def advance(self, queue: str, floors: Mapping[int, float]) -> dict[int, float]:
        """Writes how far claims have come; answers the floors now in force."""
        ...

    async def settle(self, transitions: Sequence[Transition]) -> list[str | None]:
        """Ends or hands back jobs, each on its own: None where it happened, else why the fence held."""
        ...

    async def turn(self, transitions: Sequence[Transition], claim: Claim) -> tuple[list[str | None], ClaimedBatch]:
        """`settle`, then `claim`: in one commit where every settle is a plain success, so that a worker pays for one.

        What that commit left alone is `UNDECIDED`: it has neither happened nor been refused, and `settle` decides. Once
        something has been committed nothing is raised any more, or nobody would know what was settled and claimed.
        """
        ...

    def heart(self) -> Heart: ...

    def heard(self, topic: str) -> None:
        """A bell for everyone came in: whoever follows events looks, if it is about them."""
        ...

    def follow(self) -> AsyncIterator[None]:
        """Yields whenever there may be new events."""
        ...

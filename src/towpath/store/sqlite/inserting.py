"""New jobs on SQLite: each is placed in the fair order of its lane, or behind the lane's gate, or scheduled.

A bulk without keys and times goes in by sorts, many rows per statement. Otherwise a job may turn out to be there already,
and what comes behind it depends on that: such jobs go in one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, cast

from towpath.core import fairness
from towpath.core.count_deltas import count_new
from towpath.core.encoding import encode
from towpath.core.records import Enqueued, NewJob
from towpath.core.working_set import NO_PLACE, shut
from towpath.store.columns import STRAIGHT, straight_of
from towpath.store.ledger import gate as open_gate
from towpath.store.sorts import Sorts, sorts_of
from towpath.store.sqlite import bulk

if TYPE_CHECKING:
    from towpath.store.sqlite.tx import SqliteTx

_IN_COMMON = (*STRAIGHT, "gate", "ready", "parked", "reason", "created_at")
_INSERT_SORT = (
    f"INSERT INTO towpath_job (id, root_id, pass, payload, {', '.join(_IN_COMMON)}) "
    f"SELECT column1, coalesce(?, column1), column2, column3, {', '.join('?' * len(_IN_COMMON))} FROM (VALUES {{}})"
)
_INSERT_ANY = f"INSERT INTO towpath_job (id, pass, payload, root_id, {', '.join(_IN_COMMON)}) VALUES {{}}"
_MANY = 10  # of so many it pays to tell what they have in common once
_OF_ITS_OWN = ("id", "root_id", "pass", "payload", "key", "live_key", "run_at", "due_at")
_INSERT_ONE = (
    f"INSERT INTO towpath_job ({', '.join((*_OF_ITS_OWN, *_IN_COMMON))}) "
    f"VALUES ({', '.join('?' * len((*_OF_ITS_OWN, *_IN_COMMON)))}) ON CONFLICT DO NOTHING"
)
_OWNED = "INSERT INTO towpath_owned (tenant, id) VALUES {}"

_lane_of = attrgetter("queue", "priority", "lane")
_owner_of = attrgetter("tenant", "id")
_kind_of = attrgetter("queue", "operation")


@dataclass(slots=True)
class Place:
    """Where the next job of a lane goes; `tail` moves on with each that does."""

    floor: float
    tail: float
    weight: float
    gate: int

    def of(self, job: NewJob, *, scheduled: bool = False) -> tuple[bool, bool, str | None]:
        """Whether a job is ready there, or parked; else it is scheduled. The reason says which."""
        if scheduled:
            return False, False, "scheduled"
        if shut(self.gate, job.parent_id):
            return False, True, "capped"
        return True, False, None


class Places:
    """The places of all lanes that a bulk goes to."""

    def __init__(self, tx: SqliteTx) -> None:
        self._tx = tx
        self._known: dict[tuple[str, int, str], Place] = {}

    def of(self, job: NewJob) -> Place:
        lane = _lane_of(job)
        place = self._known.get(lane)
        if place is None:
            place = self._known[lane] = self._look(lane)
        return place

    def _look(self, lane: tuple[str, int, str]) -> Place:
        bindings = dict(zip(("queue", "priority", "lane"), lane, strict=True))
        [row] = self._tx.connection.execute(self._tx.queries["place"].text, bindings).fetchall()
        return Place(*cast(tuple[float, float, float, int], row))


async def insert(tx: SqliteTx, jobs: Sequence[NewJob]) -> list[Enqueued]:
    """Stamps and inserts. A key that a live job holds gives that job instead."""
    gates: set[tuple[str, str]] = set()
    sorts = sorts_of(jobs) if len(jobs) > 1 else None
    if sorts is not None and sorts.plain and not _is_there(tx, jobs[0]):  # if one is there, all are: it was sent before
        _insert_sorts(tx, jobs, sorts, gates)
        outcome = [Enqueued(job.id, True) for job in jobs]
    else:
        outcome = _insert_each(tx, jobs, gates)
        jobs = [job for job, made in zip(jobs, outcome, strict=True) if made.created]
    _tell(tx, jobs)
    for queue, lane in sorted(gates):
        await open_gate(tx, queue, lane)
    return outcome


def _insert_sorts(tx: SqliteTx, jobs: Sequence[NewJob], sorts: Sorts, gates: set[tuple[str, str]]) -> None:
    places, now = Places(tx), tx.now.timestamp()
    of_sort: list[tuple[Place, bool, list[Any]]] = []
    common: list[tuple[Any, ...]] = []
    for example in sorts.examples:
        place = places.of(example)
        ready, parked, reason = place.of(example)
        _note(tx, example, ready, parked, gates)
        of_sort.append((place, ready, []))
        common.append((example.root_id, *straight_of(example), place.gate, ready, parked, reason, now))
    for job, number in zip(jobs, sorts.numbers, strict=True):
        place, ready, rows = of_sort[number]
        if ready:
            place.tail = pass_ = fairness.stamp(place.floor, place.tail, job.cost, place.weight)
        else:
            pass_ = NO_PLACE
        rows += (job.id, pass_, job.payload_json)
    few: list[Any] = []
    for shared, (_, _, rows) in zip(common, of_sort, strict=True):
        if len(rows) >= _MANY * 3:
            bulk.insert(tx.connection, _INSERT_SORT, shared, rows, 3)
        else:
            for at in range(0, len(rows), 3):
                few += (*rows[at : at + 3], shared[0] or rows[at], *shared[1:])
    bulk.insert(tx.connection, _INSERT_ANY, (), few, len(_IN_COMMON) + 4)


def _insert_each(tx: SqliteTx, jobs: Sequence[NewJob], gates: set[tuple[str, str]]) -> list[Enqueued]:
    places, now = Places(tx), tx.now.timestamp()
    outcome: list[Enqueued] = []
    for job in jobs:
        place, run_at = places.of(job), _due(job, now)
        ready, parked, reason = place.of(job, scheduled=run_at is not None)
        pass_ = fairness.stamp(place.floor, place.tail, job.cost, place.weight) if ready else NO_PLACE
        own = (job.id, job.root_id or job.id, pass_, job.payload_json, job.key, job.key, run_at, run_at)
        tx.connection.execute(_INSERT_ONE, (*own, *straight_of(job), place.gate, ready, parked, reason, now))
        if tx.connection.changes() == 0:
            outcome.append(Enqueued(_holder(tx, job), created=False))
            continue
        outcome.append(Enqueued(job.id, created=True))
        _note(tx, job, ready, parked, gates)
        if ready:
            place.tail = pass_
    return outcome


def _note(tx: SqliteTx, job: NewJob, ready: bool, parked: bool, gates: set[tuple[str, str]]) -> None:
    """Who is to hear of it after the commit, and which gates are to be looked at before."""
    if ready:
        tx.rings.add(job.queue)
    elif parked:
        gates.add((job.queue, job.lane))


def _tell(tx: SqliteTx, added: Sequence[NewJob]) -> None:
    """What others learn of new jobs: whose they are, that they are there, and how many."""
    now = tx.now.timestamp()
    bulk.insert(tx.connection, _OWNED, (), list(chain.from_iterable(map(_owner_of, added))), 2)
    bulk.list_events(tx.connection, tx.queries, 1, [job.id for job in added], now)
    kinds: Iterable[tuple[str, str]] = map(_kind_of, added)
    for counts in count_new(kinds):
        values = {"queue": counts.queue, "operation": counts.operation, "jobs": counts.created, "now": now}
        tx.connection.execute(tx.queries["count_new"].text, values)


def _is_there(tx: SqliteTx, job: NewJob) -> bool:
    return bool(tx.connection.execute(tx.queries["jobs_known"].text, {"ids": encode([job.id])}).fetchall())


def _holder(tx: SqliteTx, job: NewJob) -> str:
    if _is_there(tx, job):
        return job.id  # the same insert, sent again after an unknown commit
    query = tx.queries["job_by_key"].text
    rows = tx.connection.execute(query, {"tenant": job.tenant, "operation": job.operation, "key": job.key}).fetchall()
    return str(rows[0][0])


def _due(job: NewJob, now: float) -> float | None:
    run_at = job.run_at.timestamp() if job.run_at else now + job.delay if job.delay else None
    return run_at if run_at is not None and run_at > now else None

"""The line that jobs of a queue wait in, read at a bounded price: what is parked, ready or running, and who works.

Everything here is about roots, which are what people wait for, and parts, which are the children of roots and theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from towpath.core.encoding import decode
from towpath.core.forecast import Cap
from towpath.core.prospects import Workforce
from towpath.core.records import GATE_NONE, GATE_ROOTS, GATE_SLOTS
from towpath.engine.asking.durations import Durations, read_durations
from towpath.engine.asking.liveness import live_workers
from towpath.store.contract import Row, Tx

MOST_IN_LINE = 1000
_MOST_READY = 3000
_FEW_PARKED, _FEWEST_PARKED, _MANY_PARKED = 50, 5, 2000
"""So many are read from behind each cap at first, and fewer if that would be too many in all."""
DEEPER = 5
_MOST_CHILDREN = 300
_ENOUGH_DONE = 0.25
"""So much of one part has to be done before the speed that it shows is believed."""


@dataclass(frozen=True, slots=True)
class Crew:
    """Whoever may work on a queue. Slots that are taken by other queues do not count, except that one always does: it may be
    free at any moment."""

    queue: str
    paused: bool
    most: int | None
    workers: Sequence[tuple[frozenset[str], int, int]]
    """What each knows, its slots, and how many of those are taken by other queues."""

    def workforce(self, operations: Collection[str]) -> Workforce:
        """For work of any of these kinds."""
        able = [worker for worker in self.workers if not worker[0].isdisjoint(operations)]
        slots, busy = sum(one[1] for one in able), sum(one[2] for one in able)
        everybody = sum(one[1] for one in self.workers)
        return Workforce(self.queue, self.paused, everybody, max(1, slots - busy) if slots else 0, self.most)


@dataclass(frozen=True, slots=True)
class Children:
    """Of a job that was asked for: where its open children wait, what they are, and what this very run has shown."""

    queue: str
    operation: str
    seconds_per_cost: float | None
    """None while too little is done to tell."""


@dataclass(slots=True)
class Line:
    """A queue as it stands."""

    queue: str
    now: datetime
    crew: Crew
    floors: dict[int, float]
    waiting: Sequence[Row]
    """Roots that somebody may begin, or go on with."""
    parts: Sequence[Row]
    held: Sequence[Row]
    parked: Sequence[Row]
    begun: dict[str, Row]
    lanes: dict[str, Cap]
    durations: Durations
    cut: dict[str, int]
    """Lanes that may have more parked than was read, and how many that was."""
    more: bool
    """Whether more roots with a subject are ready than were read."""
    horizon: tuple[int, float] | None
    """The band and pass from which on there may be jobs without a subject that were not read."""


async def read_asked(tx: Tx, kind: str, ids: Sequence[str]) -> tuple[Sequence[Row], dict[str, Children]]:
    """The roots of these subjects that have not ended, and what is known of the children of those that have some."""
    asked = await tx.fetch("line_asked", kind=kind, ids=list(ids))
    parents = [str(row["id"]) for row in asked if row["children_total"]]
    rows = await tx.fetch("line_families", ids=parents, limit=_MOST_CHILDREN) if parents else []
    return asked, _children(rows)


def _children(rows: Sequence[Row]) -> dict[str, Children]:
    """Of several groups the one with the most open children speaks, with the speed that all of its kind had."""
    found: dict[str, Children] = {}
    for row in sorted(rows, key=lambda row: row["open"]):
        done, wall = row["done"] or 0.0, row["wall"] or 0.0
        seen = wall / done if wall > 0 and done >= _ENOUGH_DONE * row["cost"] else None
        found[str(row["parent_id"])] = Children(row["queue"], row["operation"], seen)
    return found


async def read_line(tx: Tx, queue: str, asked: Sequence[Row], depths: Mapping[str, int]) -> Line:
    """From behind the caps of these lanes so many jobs are read, from behind others a few."""
    at = {"queue": queue}
    subjects = await tx.fetch("line_subjects", limit=MOST_IN_LINE + 1, **at)
    plain = await tx.fetch("line_plain", limit=_MOST_READY, **at)
    parts = await tx.fetch("line_parts", limit=_MOST_READY, **at)
    held = await tx.fetch("line_held", **at)
    waiting = [*subjects, *plain]
    started = {str(row["id"]) for row in asked if row["attempt"] and (row["ready"] or row["state"] != "queued")}
    ids = started | {str(row["root_id"]) for row in (*parts, *held)}
    begun = await _begun(tx, ids - {str(row["id"]) for row in waiting})
    lanes = await _lanes(tx, queue, (*waiting, *begun.values(), *asked))
    behind, cut = await _parked(tx, queue, [name for name, cap in lanes.items() if cap.gate], depths)
    begun |= await _begun(tx, {str(row["root_id"]) for row in behind if row["parent_id"]} - begun.keys())
    operations = {str(row["operation"]) for row in (*waiting, *parts, *held, *behind, *begun.values())}
    return Line(
        queue, tx.now, await read_crew(tx, queue), {row["priority"]: row["floor"] for row in await tx.fetch("floors", **at)},
        waiting, parts, held, behind, begun, lanes, await read_durations(tx, queue, operations), cut,
        len(subjects) > MOST_IN_LINE, await _horizon(tx, queue) if plain else None,
    )  # fmt: skip


async def _begun(tx: Tx, ids: set[str]) -> dict[str, Row]:
    if not ids:
        return {}
    return {str(row["id"]): row for row in await tx.fetch("line_begun", ids=sorted(ids))}


async def _lanes(tx: Tx, queue: str, rows: Iterable[Row]) -> dict[str, Cap]:
    names = sorted({str(row["lane"]) for row in rows})
    return {row["lane"]: _cap(row) for row in await tx.fetch("line_lanes", queue=queue, lanes=names)}


def _cap(row: Row) -> Cap:
    if row["max_slots"] is not None:
        return Cap(GATE_SLOTS, row["max_slots"], row["weight"])
    if row["max_roots"] is not None:
        return Cap(GATE_ROOTS, row["max_roots"], row["weight"])
    return Cap(GATE_NONE, 0, row["weight"])


async def _parked(tx: Tx, queue: str, capped: Sequence[str], depths: Mapping[str, int]) -> tuple[list[Row], dict[str, int]]:
    few = min(_FEW_PARKED, max(_FEWEST_PARKED, _MANY_PARKED // max(1, len(capped))))
    wanted: dict[int, list[str]] = {}
    for lane in sorted(capped):
        wanted.setdefault(depths.get(lane, few), []).append(lane)
    found: list[Row] = []
    cut: dict[str, int] = {}
    for limit, lanes in wanted.items():
        rows = await tx.fetch("line_parked", queue=queue, lanes=lanes, limit=limit)
        counts = Counter(str(row["lane"]) for row in rows)
        cut |= {lane: limit for lane, count in counts.items() if count >= limit}
        found += rows
    return found, cut


async def _horizon(tx: Tx, queue: str) -> tuple[int, float] | None:
    rows = await tx.fetch("line_horizon", queue=queue, limit=_MOST_READY)
    return (rows[0]["priority"], rows[0]["pass"]) if rows else None


async def read_crew(tx: Tx, queue: str) -> Crew:
    found = await tx.fetch("lock_free_queue", queue=queue)
    paused, most = (bool(found[0]["paused"]), found[0]["max_slots"]) if found else (False, None)
    workers = [row for row in await live_workers(tx) if queue in decode(row["queues"])]
    busy = await _busy_elsewhere(tx, queue, workers)
    known = [(frozenset(decode(row["operations"])), int(row["concurrency"]), busy.get(row["id"], 0)) for row in workers]
    return Crew(queue, paused, most, known)


async def _busy_elsewhere(tx: Tx, queue: str, workers: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    if not workers:
        return {}
    rows = await tx.fetch("line_busy_elsewhere", queue=queue, workers=[row["id"] for row in workers])
    return {str(row["worker_id"]): int(row["jobs"]) for row in rows}

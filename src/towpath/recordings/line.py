"""The line that recordings wait in, read at a bounded price: what is parked, ready or running, and who works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from towpath.core.encoding import decode
from towpath.core.forecast import Cap
from towpath.core.lifecycle import State
from towpath.core.records import GATE_NONE, GATE_ROOTS, GATE_SLOTS, Job
from towpath.engine.liveness import live_workers
from towpath.recordings.estimating import Hands
from towpath.recordings.names import SUMMARY_QUEUE, TRANSCRIBE, WINDOWS
from towpath.store.contract import Row, Tx

MOST_IN_LINE = 1000
_MOST_PARTS = 3000


@dataclass(slots=True)
class Line:
    """A queue as it stands. Rows of recordings have their audio with them."""

    queue: str
    now: datetime
    hands: Hands
    floors: dict[int, float]
    roots: Sequence[Row]
    parts: dict[str, Row]
    held: Sequence[Row]
    parked: Sequence[Row]
    begun: dict[str, Row]
    lanes: dict[str, Cap]
    cut: frozenset[str]
    """Lanes that have more parked than was read."""
    own: dict[str, tuple[float, float]]
    """Of recordings that were asked for: seconds of audio heard in this very run, and the seconds that took."""

    @property
    def more(self) -> bool:
        """Whether more are ready than were read."""
        return len(self.roots) > MOST_IN_LINE


async def read_line(tx: Tx, queue: str, asked: Sequence[Job], parked: int) -> Line:
    """At most `parked` of every lane are read from behind its cap."""
    at = {"queue": queue}
    roots = await tx.fetch("recording_line_roots", limit=MOST_IN_LINE + 1, **at)
    parts = {str(row["parent_id"]): row for row in await tx.fetch("recording_line_parts", limit=_MOST_PARTS, **at)}
    held = await tx.fetch("recording_line_held", **at)
    started = {job.id for job in asked if job.attempt and (job.ready or job.state is not State.QUEUED)}
    ids = started | parts.keys() | {str(row["parent_id"] or row["id"]) for row in held}
    begun = await _begun(tx, ids - {str(row["id"]) for row in roots})
    names = {str(row["lane"]) for row in (*roots, *begun.values())} | {job.lane for job in asked}
    lanes = {row["lane"]: _cap(row) for row in await tx.fetch("recording_line_lanes", lanes=sorted(names), **at)}
    capped = sorted(name for name, cap in lanes.items() if cap.gate)
    waiting = await tx.fetch("recording_line_parked", lanes=capped, limit=parked, **at) if capped else []
    begun |= await _begun(tx, {str(row["parent_id"]) for row in waiting if row["parent_id"]} - begun.keys())
    return Line(
        queue, tx.now, await hands_on(tx, queue), {row["priority"]: row["floor"] for row in await tx.fetch("floors", **at)},
        roots, parts, held, waiting, begun, lanes, _cut(waiting, parked), await _own_speeds(tx, sorted(started)),
    )  # fmt: skip


async def _begun(tx: Tx, ids: set[str]) -> dict[str, Row]:
    if not ids:
        return {}
    return {str(row["id"]): row for row in await tx.fetch("recording_line_begun", ids=sorted(ids))}


def _cap(row: Row) -> Cap:
    if row["max_slots"] is not None:
        return Cap(GATE_SLOTS, row["max_slots"], row["weight"])
    if row["max_roots"] is not None:
        return Cap(GATE_ROOTS, row["max_roots"], row["weight"])
    return Cap(GATE_NONE, 0, row["weight"])


def _cut(rows: Sequence[Row], limit: int) -> frozenset[str]:
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["lane"]] = counts.get(row["lane"], 0) + 1
    return frozenset(lane for lane, count in counts.items() if count >= limit)


async def _own_speeds(tx: Tx, ids: list[str]) -> dict[str, tuple[float, float]]:
    if not ids:
        return {}
    rows = await tx.fetch("recording_own_speed", ids=ids)
    return {str(row["parent_id"]): (row["audio_seconds"] or 0.0, row["wall_seconds"] or 0.0) for row in rows}


async def hands_on(tx: Tx, queue: str) -> Hands:
    """Slots that are at something else do not count, but for one: that may change at any moment."""
    found = await tx.fetch("lock_free_queue", queue=queue)
    paused, most = (bool(found[0]["paused"]), found[0]["max_slots"]) if found else (False, None)
    workers = [row for row in await live_workers(tx) if queue in decode(row["queues"])]
    able = [row for row in workers if _knows(decode(row["operations"]), queue)]
    busy = 0
    if able:
        rows = await tx.fetch("recording_busy_elsewhere", queue=queue, workers=[row["id"] for row in able])
        busy = int(rows[0]["jobs"])
    slots, knowing = _slots(workers), _slots(able)
    return Hands(queue, paused, slots, max(1, knowing - busy) if knowing else 0, most)


def _slots(workers: Sequence[Any]) -> int:
    return sum(int(row["concurrency"]) for row in workers)


def _knows(operations: Sequence[str], queue: str) -> bool:
    return "summarize" in operations if queue == SUMMARY_QUEUE else {TRANSCRIBE, WINDOWS} <= set(operations)

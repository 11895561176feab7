"""The line as families of a forecast: how much work each is, what of it is done, and what it is still going to make."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from towpath.core.forecast import Family, Piece, Where
from towpath.core.prospects import OWN, Between, Work, left
from towpath.engine.asking.line import Children, Line
from towpath.store.contract import Row

_ENOUGH_PROGRESS = 0.1


class Families:
    """`works` is what is known of every root in the line, `children` what is known of those that were asked for."""

    def __init__(self, line: Line, works: Mapping[str, Work], children: Mapping[str, Children]) -> None:
        self._line, self._works, self._children = line, works, children
        self._found: dict[str, Family] = {}
        self._held = {str(row["id"]): row for row in line.held if row["parent_id"] is None}

    def all(self) -> list[Family]:
        for row in self._line.waiting:
            self._add_waiting(row, Where.READY)
        for row in self._line.begun.values():
            self._add_begun(row)
        for row in self._line.parts:
            self._add_parts(row)
        for row in self._line.parked:
            if row["parent_id"] is None:
                self._add_waiting(row, Where.PARKED)
            else:
                self._add_part(row, Where.PARKED, 0.0)
        for row in self._line.held:
            if row["parent_id"] is not None:
                self._add_part(row, Where.RUNNING, self._elapsed(row))
        for row in self._line.begun.values():
            self._fill_up(row)
        return list(self._found.values())

    def between(self, root_id: str) -> Between:
        """How far from the truth an estimate of this root may be."""
        return OWN if self._is_seen(root_id) else self._works[root_id].between

    def unknown(self, root_id: str) -> str | None:
        """Why nobody can say how long this root takes."""
        return None if self._is_seen(root_id) else self._works[root_id].reason

    def _is_seen(self, root_id: str) -> bool:
        return self._seen(root_id) is not None or self._own_pace(root_id) is not None

    def _elapsed(self, row: Row) -> float:
        """Of a job's first attempt; of later ones nobody knows when they began."""
        if row["started_at"] is None or row["attempt"] > 1:
            return 0.0
        started: datetime = row["started_at"]
        return max(0.0, (self._line.now - started).total_seconds())

    def _family(self, row: Row, *, begun: bool) -> Family:
        """With what is to come, as if nothing had been done yet."""
        number, work = str(row["id"]), self._works[str(row["id"])]
        family = Family(number, row["lane"], row["priority"], begun=begun, subject=_subject(row))
        family.guest = row["queue"] != self._line.queue
        if work.parts is not None and not row["children_total"]:
            family.makes, family.closing = work.parts, work.closing
        self._found[number] = family
        return family

    def _add_waiting(self, row: Row, where: Where) -> None:
        back = bool(row["children_total"]) and where is Where.READY
        family = self._family(row, begun=back)
        work = self._works[family.id]
        place = row["pass"] if where is Where.READY else 0.0
        taking = work.closing if row["children_total"] else work.seconds
        family.own = Piece(family.id, taking, where, place, row["cost"], begun=row["attempt"] > 0)

    def _add_begun(self, row: Row) -> None:
        family = self._family(row, begun=True)
        family.pass_ = row["pass"]
        held, work = self._held.get(family.id), self._works[family.id]
        if held is not None:
            taking = work.closing if row["children_total"] else self._left_of_own_run(held, work)
            family.own = Piece(family.id, taking, Where.RUNNING, row["pass"], row["cost"], begun=True)
        elif not family.guest:
            family.closing = work.closing

    def _left_of_own_run(self, held: Row, work: Work) -> float:
        pace = self._own_pace(str(held["id"]))
        return left(work.seconds if pace is None else pace, self._elapsed(held))

    def _own_pace(self, root_id: str) -> float | None:
        """Seconds that a running job takes as a whole, by the progress that it tells. That of a job with parts is theirs."""
        held = self._held.get(root_id)
        if held is None or held["children_total"] or self._works[root_id].parts is not None or not held["progress_total"]:
            return None
        part = min(1.0, (held["progress_current"] or 0.0) / held["progress_total"])
        elapsed = self._elapsed(held)
        return elapsed / part if part >= _ENOUGH_PROGRESS and elapsed > 0 else None

    def _seen(self, root_id: str) -> float | None:
        known = self._children.get(root_id)
        return known.seconds_per_cost if known is not None else None

    def _part_seconds(self, root_id: str, operation: str, cost: float) -> float:
        """By what this very run has shown, else by what was said of the root, else by what is usual."""
        seen, said = self._seen(root_id), self._works[root_id].parts
        if seen is not None:
            return cost * seen
        if said is not None:
            return cost * said.seconds / said.cost
        return self._line.durations.work(operation).seconds

    def _add_parts(self, group: Row) -> None:
        family = self._found.get(str(group["root_id"]))
        if family is None or not family.begun:
            return
        count, cost = int(group["parts"]), group["cost"] / group["parts"]
        step = (group["last"] - group["first"]) / max(1, count - 1)
        self._line_up(family, group["operation"], count, cost, group["first"], step)

    def _line_up(self, family: Family, operation: str, count: int, cost: float, first: float, step: float) -> None:
        seconds = self._part_seconds(family.id, operation, cost)
        for number in range(count):
            name = f"{family.id}.{len(family.parts):05}"
            family.parts.append(Piece(name, seconds, Where.READY, first + step * number, cost))

    def _add_part(self, row: Row, where: Where, elapsed: float) -> None:
        family = self._found.get(str(row["root_id"]))
        if family is None:
            return
        whole = self._part_seconds(family.id, row["operation"], row["cost"])
        taking = left(whole, elapsed) if where is Where.RUNNING else whole
        family.parts.append(Piece(str(row["id"]), taking, where, family.pass_, row["cost"], row["attempt"] > 0))

    def _fill_up(self, row: Row) -> None:
        """Parts that were not read: too far behind, or waiting to be tried again. They come last."""
        family = self._found[str(row["id"])]
        if family.own is not None:
            return
        missing = row["children_open"] - len(family.parts)
        if missing > 0:
            known, said = self._children.get(family.id), self._works[family.id].parts
            cost = said.cost if said is not None else max((part.cost for part in family.parts), default=1.0)
            last = max((part.pass_ for part in family.parts), default=family.pass_)
            operation = known.operation if known is not None else row["operation"]
            self._line_up(family, operation, missing, cost, last + cost, cost)
        if not family.parts and not family.guest:
            closing = family.closing or 0.0
            family.own, family.closing = Piece(family.id, closing, Where.READY, family.pass_, begun=True), None


def _subject(row: Row) -> str:
    return "" if row["subject_kind"] is None else f"{row['subject_kind']} {row['subject_id']}"

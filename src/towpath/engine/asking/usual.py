"""How much work a job is that nobody has said anything about: what jobs of its operation took lately, with as many children
as others of its kind have that are under way."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean

from towpath.core.forecast import Parts
from towpath.core.prospects import Work
from towpath.engine.asking.line import Children, Line
from towpath.store.contract import Row

_CLOSING = 0.05
"""Seconds that a job takes before its first part and after its last, besides theirs."""


class UsualWork:
    def __init__(self, line: Line, children: Mapping[str, Children]) -> None:
        self._line = line
        self._part_of = {root: known.operation for root, known in children.items()}
        behind = (row for row in (*line.held, *line.parked) if row["parent_id"] is not None)
        self._part_of |= {str(row["root_id"]): str(row["operation"]) for row in (*line.parts, *behind)}
        self._with_parts = {name: self._like_others(name) for name in {str(row["operation"]) for row in line.begun.values()}}

    def work(self, root: Row) -> Work:
        operation = str(root["operation"])
        if root["children_total"]:
            part = self._line.durations.work(self._part_of.get(str(root["id"]), operation))
            return Work(_CLOSING, None, _CLOSING, part.between, part.reason)
        return self._with_parts.get(operation) or self._line.durations.work(operation)

    def _like_others(self, operation: str) -> Work | None:
        """None if none of them has children."""
        alike = {str(row["id"]): row for row in self._line.begun.values() if row["operation"] == operation}
        totals = [row["children_total"] for row in alike.values() if row["children_total"]]
        parts = [group for group in self._line.parts if str(group["root_id"]) in alike]
        kinds = [self._part_of[one] for one in alike if one in self._part_of]
        if not totals or not kinds:
            return None
        part = self._line.durations.work(kinds[0])
        cost = mean(group["cost"] / group["parts"] for group in parts) if parts else 1.0
        return Work(_CLOSING, Parts(round(mean(totals)), cost, part.seconds), _CLOSING, part.between, part.reason)

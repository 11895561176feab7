"""When jobs will be begun and done, by what they work on: their place in line, and a range of seconds or a reason.

The line of a queue is read (`line.py`), made into families (`families.py`) and simulated (`core/forecast.py`); decision
0024 says why. How much work a job is, its product may say: `app.workload`. Where nobody does, what jobs of the same
operation took lately stands for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from towpath.core.errors import JobNotFound
from towpath.core.forecast import Forecast, foresee
from towpath.core.prospects import STUCK, TOO_FAR, InLine, Prospect, Work, eta
from towpath.engine.asking.explain import explain
from towpath.engine.asking.families import Families
from towpath.engine.asking.line import DEEPER, MOST_IN_LINE, Children, Line, read_asked, read_line
from towpath.engine.asking.usual import UsualWork
from towpath.engine.services import Services
from towpath.store.contract import Row


async def prospects(services: Services, kind: str, ids: Sequence[str]) -> dict[str, Prospect]:
    """Of the jobs of these subjects that have not ended, by job id, oldest first. A job with children is one with them, and
    they are not in it."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    asked, children = await services.store.read(partial(read_asked, kind=kind, ids=wanted))
    queues: dict[str, list[Row]] = {}
    found: dict[str, Prospect] = {}
    for row in asked:
        queue = _queue_of(row, children)
        if queue is not None:
            queues.setdefault(queue, []).append(row)
    for queue, rows in sorted(queues.items()):
        found |= await _in_queue(services, queue, rows, children)
    for row in asked:
        number = str(row["id"])
        if _out_of_line(row, found.get(number)):
            with suppress(JobNotFound):  # deleted since it was read
                told = await explain(services.store, number, services.explainers)
                found[number] = Prospect(None, False, None, told.sentence)
    return dict(sorted(found.items()))


def _queue_of(row: Row, children: Mapping[str, Children]) -> str | None:
    """Where it is decided when a job is done: where it waits itself, or its children do. None if it waits for something
    else, such as a time or a signal."""
    if row["state"] == "waiting":
        known = children.get(str(row["id"]))
        return known.queue if known is not None and row["reason"] == "children" else None
    return str(row["queue"]) if row["ready"] or row["parked"] or row["state"] == "running" else None


def _out_of_line(row: Row, told: Prospect | None) -> bool:
    """Nobody can begin it as things are, such as behind a cap of nothing, a backoff or a timer."""
    if told is None:
        return True
    return row["state"] == "queued" and not row["children_total"] and told.position is None and told.eta is None


async def _in_queue(
    services: Services, queue: str, asked: Sequence[Row], children: Mapping[str, Children]
) -> dict[str, Prospect]:
    """What is parked is read until there is enough of it."""
    depths: dict[str, int] = {}
    while True:
        line = await services.store.read(partial(read_line, queue=queue, asked=asked, depths=depths))
        teller = _Teller(line, await _works(services, line, children), children)
        forecast = await asyncio.to_thread(teller.forecast, asked)
        dry = _ran_dry(line, forecast, asked)
        if not dry:
            return {str(row["id"]): teller.tell(row, forecast) for row in asked}
        depths |= dry


async def _works(services: Services, line: Line, children: Mapping[str, Children]) -> dict[str, Work]:
    roots = [*line.waiting, *line.begun.values(), *(row for row in line.parked if row["parent_id"] is None)]
    known: dict[str, Work] = {}
    usual = UsualWork(line, children)
    for kind, workload in services.workloads.items():
        ours = [InLine(str(row["id"]), row["subject_id"], row["operation"]) for row in roots if row["subject_kind"] == kind]
        if ours:
            known.update(await workload(ours))
    for row in roots:
        if str(row["id"]) not in known:
            known[str(row["id"])] = usual.work(row)
    return known


def _ran_dry(line: Line, forecast: Forecast, asked: Sequence[Row]) -> dict[str, int]:
    """Lanes that had no more parked jobs when somebody who was asked for was not begun yet, although there may be more; and
    how many to read of them. More than a thousand are too many in any case."""
    waiting = [str(row["id"]) for row in asked if row["ready"] or row["parked"]]
    last = max((forecast.order.get(one, MOST_IN_LINE + 1) for one in waiting), default=0)
    dry = {lane: depth for lane, depth in line.cut.items() if forecast.dry.get(lane, MOST_IN_LINE + 1) < last}
    return {lane: depth * DEEPER for lane, depth in dry.items() if depth <= MOST_IN_LINE}


class _Teller:
    def __init__(self, line: Line, works: Mapping[str, Work], children: Mapping[str, Children]) -> None:
        self._line, self._works, self._children = line, works, children
        self._families = Families(line, works, children)

    def forecast(self, asked: Sequence[Row]) -> Forecast:
        workforce = self._line.crew.workforce({self._operation(row) for row in asked})
        return foresee(
            self._families.all(), workforce.working, asked={str(row["id"]) for row in asked}, floors=self._line.floors,
            lanes=self._line.lanes, most_places=MOST_IN_LINE,
        )  # fmt: skip

    def _operation(self, row: Row) -> str:
        """What somebody has to know for it to go on."""
        known = self._children.get(str(row["id"]))
        return known.operation if known is not None and row["state"] == "waiting" else str(row["operation"])

    def tell(self, row: Row, forecast: Forecast) -> Prospect:
        number = str(row["id"])
        place = forecast.places.get(number)
        is_more = self._is_more(row, forecast)
        position = min(MOST_IN_LINE, place or max(forecast.places.values(), default=0)) if is_more else place
        reason = self._reason(row, forecast, is_more=is_more)
        if reason is not None:
            return Prospect(position, is_more, None, reason)
        closing = self._works[number].closing if row["queue"] != self._line.queue else 0.0
        told = eta(forecast.ends[number] + closing, self._families.between(number), forecast.crowded.get(number, 0.0))
        return Prospect(position, is_more, told)

    def _is_more(self, row: Row, forecast: Forecast) -> bool:
        order = forecast.order.get(str(row["id"]))
        if order is None:
            waits = row["ready"] or row["parked"]
            return bool(waits) and (self._line.more or len(forecast.order) > MOST_IN_LINE)
        return order > min(MOST_IN_LINE, self._last_sure(forecast))

    def _last_sure(self, forecast: Forecast) -> int:
        """Up to which number the order is certain. Behind the horizon, ready jobs that were not read may come first."""
        horizon = self._line.horizon
        if horizon is None:
            return MOST_IN_LINE
        beyond = [str(row["id"]) for row in self._line.waiting if (row["priority"], row["pass"]) >= horizon]
        return min((forecast.order[one] - 1 for one in beyond if one in forecast.order), default=len(forecast.order))

    def _reason(self, row: Row, forecast: Forecast, *, is_more: bool) -> str | None:
        """Why there is no estimate."""
        hindrance = self._line.crew.workforce({self._operation(row)}).hindrance
        if hindrance is not None:
            return hindrance
        number = str(row["id"])
        if is_more:
            return TOO_FAR
        if number not in forecast.ends:
            return TOO_FAR if number in forecast.places else STUCK
        return self._families.unknown(number) or self._unknown_before(number, forecast)

    def _unknown_before(self, number: str, forecast: Forecast) -> str | None:
        """Whether nobody can say how long something takes that comes before it, or is under way."""
        last = forecast.order.get(number, 0)
        before = [one for one, order in forecast.order.items() if order < last] + list(self._line.begun)
        return next((reason for one in before if (reason := self._families.unknown(one)) is not None), None)

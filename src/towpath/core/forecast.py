"""What a queue is going to do: in which order its jobs are begun, and when each is done.

A family is what people wait for: a job, with the parts that it makes. The queue is simulated from now on by the rules that
the stores obey: lowest band first, then lowest pass, then oldest; fresh work is stamped behind its lane's last, begun work
keeps its place, and a lane's cap parks what is too much. Nothing here does I/O or knows what the work is.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from towpath.core import fairness
from towpath.core.records import GATE_NONE, GATE_ROOTS, GATE_SLOTS

MOST_SIMULATED = 30_000
"""Jobs; whoever is not done by then is too far away to say anything about."""


class Where(Enum):
    READY = "ready"
    PARKED = "parked"
    RUNNING = "running"


@dataclass(slots=True)
class Piece:
    """A job of a family that has not ended. `seconds` is what is left of it once it runs."""

    id: str
    seconds: float
    where: Where
    pass_: float = 0.0
    cost: float = 1.0
    begun: bool = False
    """Whether it has run before, and keeps its place."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a job makes when it has run: so many child jobs alike. `cost` is what each is enqueued with, `seconds` how long
    each takes on one slot."""

    count: int
    cost: float
    seconds: float


@dataclass(slots=True)
class Family:
    """`own` is the job itself, None while it waits for parts. After the parts it runs once more, for `closing` seconds."""

    id: str
    lane: str
    priority: int
    own: Piece | None = None
    parts: list[Piece] = field(default_factory=list)
    makes: Parts | None = None
    closing: float | None = None
    pass_: float = 0.0
    begun: bool = False
    subject: str = ""
    """What it works on, if others may work on the same: those count once in a place in line."""
    guest: bool = False
    """Only its parts are in this queue. It does not count as open here, and when it closes, it does so elsewhere."""

    @property
    def seconds(self) -> float:
        """What is left of it, if one slot did it all."""
        made = self.makes.count * self.makes.seconds if self.makes is not None else 0.0
        own = self.own.seconds if self.own is not None else 0.0
        return own + made + sum(part.seconds for part in self.parts) + (self.closing or 0.0)


@dataclass(frozen=True, slots=True)
class Cap:
    """Of a lane: how many of its jobs run at once (`GATE_SLOTS`), or how many of its families are open (`GATE_ROOTS`)."""

    gate: int = GATE_NONE
    most: int = 0
    weight: float = 1.0


@dataclass(slots=True)
class Forecast:
    """What becomes of the families, by their ids; only `dry` goes by lane."""

    order: dict[str, int] = field(default_factory=dict)
    """The one that is begun next has 1, the one after it 2."""
    places: dict[str, int] = field(default_factory=dict)
    """How many other subjects are begun before it, and one. What is under way already does not count."""
    crowded: dict[str, float] = field(default_factory=dict)
    """Of those that were asked for: seconds until the end if all lanes that are here went on sending, and one more came.
    Fair order promises that it takes no longer."""
    ends: dict[str, float] = field(default_factory=dict)
    """Seconds until the end, if nothing more comes to the queue."""
    dry: dict[str, int] = field(default_factory=dict)
    """Lanes of which the last parked job was let through -> how many families were begun by then. If the lane has more
    parked jobs than the simulation was given, the order after that is not certain."""


_Key = tuple[int, float, str]
_Job = tuple[Piece, Family, bool]


class _Simulation:
    def __init__(self, floors: Mapping[int, float], lanes: Mapping[str, Cap]) -> None:
        self.now = 0.0
        self._floors = dict(floors)
        self._lanes = lanes
        self._ready: list[tuple[_Key, _Job]] = []
        self._tails: dict[tuple[int, str], float] = {}
        self._parked: dict[str, list[tuple[tuple[int, bool, str], _Job]]] = {}
        self._running: list[tuple[float, int, _Job]] = []
        self._used: dict[str, int] = {}
        self._made = 0
        self._missing: dict[str, int] = {}
        self._under_way: set[str] = set()
        self._begun: set[str] = set()
        self.forecast = Forecast()

    def set_up(self, families: Iterable[Family]) -> None:
        for family in families:
            if family.begun:
                self._under_way.add(family.subject or family.id)
            self._missing[family.id] = len(family.parts)
            jobs: list[_Job] = [(part, family, False) for part in family.parts]
            jobs += [(family.own, family, True)] if family.own is not None else []
            if self._counts_as_open(family) and not (family.own and family.own.where is Where.PARKED):
                self._use(family.lane, 1)
            for job in jobs:
                self._put(job)

    def _put(self, job: _Job) -> None:
        piece, family, _ = job
        if piece.where is Where.PARKED:
            self._park(job)
        elif piece.where is Where.RUNNING:
            self._run(job)
        else:
            self._make_ready(job, piece.pass_)
        if piece.where is not Where.PARKED and self._cap(family).gate == GATE_SLOTS:
            self._use(family.lane, 1)

    def _cap(self, family: Family) -> Cap:
        return self._lanes.get(family.lane, _NO_CAP)

    def _counts_as_open(self, family: Family) -> bool:
        return not family.guest and self._cap(family).gate == GATE_ROOTS

    def _use(self, lane: str, more: int) -> None:
        self._used[lane] = self._used.get(lane, 0) + more

    def _park(self, job: _Job) -> None:
        piece, family, _ = job
        heapq.heappush(self._parked.setdefault(family.lane, []), ((family.priority, not piece.begun, piece.id), job))

    def _run(self, job: _Job) -> None:
        self._made += 1
        heapq.heappush(self._running, (self.now + job[0].seconds, self._made, job))

    def _make_ready(self, job: _Job, pass_: float) -> None:
        piece, family, _ = job
        piece.pass_ = pass_
        lane = (family.priority, family.lane)
        self._tails[lane] = max(self._tails.get(lane, 0.0), pass_)
        heapq.heappush(self._ready, ((family.priority, pass_, piece.id), job))

    def _stamp(self, job: _Job) -> None:
        """Its place in the fair order. A lane's last pass counts only while it is above the floor, as in the stores."""
        piece, family, _ = job
        floor = self._floors.get(family.priority, 0.0)
        if piece.begun:
            self._make_ready(job, fairness.keep(floor, piece.pass_))
        else:
            tail = self._tails.get((family.priority, family.lane))
            self._make_ready(job, fairness.stamp(floor, tail, piece.cost, self._cap(family).weight))

    def _admit(self, job: _Job) -> None:
        if self._cap(job[1]).gate == GATE_SLOTS:
            self._park(job)
        else:
            self._stamp(job)

    def open_gate(self, lane: str) -> None:
        cap = self._lanes.get(lane, _NO_CAP)
        waiting = self._parked.get(lane)
        while waiting and (cap.gate == GATE_NONE or self._used.get(lane, 0) < cap.most):
            _, job = heapq.heappop(waiting)
            self._use(lane, 1)
            self._stamp(job)
            if not waiting:
                self.forecast.dry[lane] = len(self.forecast.order)

    def open_gates(self) -> None:
        for lane in list(self._parked):
            self.open_gate(lane)

    def claim(self) -> bool:
        """Whether there was something to take."""
        if not self._ready:
            return False
        (band, pass_, _), job = heapq.heappop(self._ready)
        self._floors[band] = max(self._floors.get(band, 0.0), pass_)
        _, family, own = job
        if own and not family.begun:
            family.begun = True
            self._place(family)
        job[0].where = Where.RUNNING
        self._run(job)
        return True

    def _place(self, family: Family) -> None:
        subject = family.subject or family.id
        self.forecast.order[family.id] = len(self.forecast.order) + 1
        self.forecast.places[family.id] = len(self._begun) - (subject in self._begun) + 1
        if subject not in self._under_way:
            self._begun.add(subject)

    @property
    def busy(self) -> int:
        return len(self._running)

    def end_one(self) -> None:
        """The next that is done, and what follows from it."""
        self.now, _, (piece, family, own) = heapq.heappop(self._running)
        if self._cap(family).gate == GATE_SLOTS:
            self._use(family.lane, -1)
        if own:
            self._own_has_run(piece, family)
        else:
            self._missing[family.id] -= 1
            if not self._missing[family.id] and family.own is None:
                self._close(family, family.pass_)
        if self._cap(family).gate == GATE_SLOTS:
            self.open_gate(family.lane)

    def _own_has_run(self, piece: Piece, family: Family) -> None:
        made, family.makes = family.makes, None
        family.own, family.pass_ = None, piece.pass_
        if made is None or not made.count:
            if not self._missing[family.id]:
                self._close(family, piece.pass_)
            return
        self._missing[family.id] += made.count
        for _ in range(made.count):
            self._made += 1
            self._admit((Piece(f"~{self._made:09}", made.seconds, Where.READY, cost=made.cost), family, False))

    def _close(self, family: Family, pass_: float) -> None:
        if family.closing is not None:
            last = Piece(family.id, family.closing, Where.READY, pass_, begun=True)
            family.own, family.closing = last, None
            self._admit((last, family, True))
            return
        self.forecast.ends[family.id] = self.now
        if self._counts_as_open(family):
            self._use(family.lane, -1)
            self.open_gate(family.lane)


_NO_CAP = Cap()
_NEWCOMER = 1.0


def foresee(
    families: Iterable[Family],
    slots: int,
    *,
    asked: Collection[str],
    floors: Mapping[int, float] | None = None,
    lanes: Mapping[str, Cap] | None = None,
    most_places: int = 1000,
) -> Forecast:
    """Simulates the queue with so many slots until all that are asked for are done, or more than `most_places` are begun.
    The families are used up by it."""
    families = list(families)
    before, share = _lane_work(families), _shares(families, lanes or {})
    simulation = _Simulation(floors or {}, lanes or {})
    simulation.set_up(families)
    simulation.open_gates()
    forecast, left = simulation.forecast, set(asked)
    for _ in range(MOST_SIMULATED):
        while simulation.busy < max(1, slots) and simulation.claim():
            pass
        if not simulation.busy or len(forecast.order) > most_places:
            break
        simulation.end_one()
        left.difference_update(forecast.ends)
        if not left:
            break
    for family in families:
        if family.id in asked:
            forecast.crowded[family.id] = before[family.id] / share[family.lane] / max(1, slots)
    return forecast


def _lane_work(families: Iterable[Family]) -> dict[str, float]:
    """Seconds of work in a family's lane up to its end: what is begun, then by band, then by age."""
    sums: dict[str, float] = {}
    found = {}
    for family in sorted(families, key=lambda one: (not one.begun, one.priority, one.id)):
        sums[family.lane] = sums.get(family.lane, 0.0) + family.seconds
        found[family.id] = sums[family.lane]
    return found


def _shares(families: Iterable[Family], lanes: Mapping[str, Cap]) -> dict[str, float]:
    """Of the slots, while all lanes that are here have something to do, and one more."""
    weights = {family.lane: lanes.get(family.lane, _NO_CAP).weight for family in families}
    everybody = sum(weights.values()) + _NEWCOMER
    return {lane: weight / everybody for lane, weight in weights.items()}

"""The rule itself, without a database: what it promises after any history whatsoever."""

from __future__ import annotations

import math
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fairness.programs import CLOSED, COSTS, LANES, WEIGHTS, Add, Cancel, Claim, GiveBack, Move, programs
from towpath.core.fairness import Model

FEW = settings(max_examples=60, deadline=None)


class History:
    """A model with something behind it. Ids count upwards, as the real ones do."""

    def __init__(self, program: list[Move]) -> None:
        self.model = Model(weights=dict(WEIGHTS))
        self.numbers = count(1)
        self.costs: dict[str, float] = {}
        self.claimed: list[str] = []
        for move in program:
            self.play(move)

    def play(self, move: Move) -> None:
        match move:
            case Add():
                for _ in range(move.count):
                    self.add(move.lane, move.band, move.cost)
            case Claim():
                for _ in range(move.count):
                    self.claim()
            case Cancel():
                if ready := self.model.order():
                    self.model.cancel(ready[move.which % len(ready)])
            case GiveBack():
                if self.claimed:
                    self.model.give_back(self.claimed.pop(move.which % len(self.claimed)))

    def add(self, lane: str, band: int = 1, cost: float = 1.0) -> str:
        job_id = f"{next(self.numbers):06}"
        self.costs[job_id] = cost
        self.model.enqueue(job_id, lane, band, cost)
        return job_id

    def claim(self) -> str | None:
        job_id = self.model.claim()
        if job_id is not None:
            self.claimed.append(job_id)
            band, lane, _ = self.model._begun[job_id]
            if lane == CLOSED:
                self.add(lane, band, self.costs[job_id])
        return job_id

    def ready(self) -> dict[str, tuple[int, str, float]]:
        return dict(self.model._jobs)


@FEW
@given(programs)
def test_no_ready_job_is_ever_below_the_floor_of_its_band(program: list[Move]) -> None:
    """A claim looks upwards from the floor: a job below it would be lost until the next sweep."""
    history = History(program)
    for band, _, value in history.ready().values():
        assert value >= history.model.floors.get(band, 0.0)


@FEW
@given(programs)
def test_a_band_is_served_only_when_the_bands_above_it_are_empty(program: list[Move]) -> None:
    model = History(program).model
    while model._jobs:
        lowest = min(band for band, _, _ in model._jobs.values())
        job_id = model.claim()
        assert model._begun[job_id][0] == lowest


@FEW
@given(programs, st.integers(1, 12), st.sampled_from(COSTS))
def test_a_newcomer_waits_no_longer_than_its_share_whatever_happened_before(
    program: list[Move], jobs: int, cost: float
) -> None:
    """Its n-th job stands n costs above the floor. Below that line another lane has at most one job for each cheapest
    job's worth of room, and one for the job it is in the middle of; plus whatever was begun before and came back."""
    history = History(program)
    model = history.model
    others = {job: row for job, row in history.ready().items() if row[0] == 1}
    urgent = sum(band < 1 for band, _, _ in history.ready().values())
    begun = sum(value == model.floors.get(1, 0.0) for _, _, value in others.values())
    mine = [history.add("newcomer", 1, cost) for _ in range(jobs)]
    order = model.order()
    for number, job_id in enumerate(mine, 1):
        allowed = urgent + begun + number - 1
        for lane in LANES:
            least = min(COSTS) / WEIGHTS.get(lane, 1.0)
            allowed += math.floor(number * cost / least) + 1
        assert order.index(job_id) <= allowed


@FEW
@given(
    st.lists(st.tuples(st.sampled_from([0.5, 1.0, 3.0]), st.sampled_from([1.0, 2.0, 60.0])), min_size=2, max_size=5),
    st.integers(1, 300),
)
def test_lanes_with_enough_to_do_get_work_in_proportion_to_their_weights(
    lanes: list[tuple[float, float]], turns: int
) -> None:
    """At every moment, not only in the end: any two differ by no more than one job of each."""
    model = Model(weights={str(name): weight for name, (weight, _) in enumerate(lanes)})
    numbers = count()
    for name, (_, cost) in enumerate(lanes):
        for _ in range(turns):
            model.enqueue(f"{next(numbers):06}", str(name), 1, cost)
    served = [0.0] * len(lanes)
    for _ in range(turns):
        _, lane, _ = model._begun[model.claim()]
        served[int(lane)] += lanes[int(lane)][1]
    for one, (weight, cost) in enumerate(lanes):
        for other, (weight_, cost_) in enumerate(lanes):
            difference = abs(served[one] / weight - served[other] / weight_)
            assert difference <= cost / weight + cost_ / weight_ + 1e-9


@FEW
@given(st.integers(1, 6), st.integers(10, 200))
def test_a_client_that_sends_one_at_a_time_gets_one_share_beside_any_number_of_backlogs(others: int, turns: int) -> None:
    model, numbers = Model(), count()
    for other in range(others):
        for _ in range(turns):
            model.enqueue(f"{next(numbers):06}", f"backlog {other}")
    model.claim()
    served, waiting = 0, False
    for _ in range(turns):
        if not waiting:
            model.enqueue(f"{next(numbers):06}", CLOSED)
        waiting = model._begun[model.claim()][1] != CLOSED
        served += not waiting
    assert abs(served - turns / (others + 1)) < 2  # the first and the last round may be cut short


@FEW
@given(programs)
def test_a_lane_that_cancels_everything_starts_at_the_floor_again(program: list[Move]) -> None:
    history = History(program)
    for job_id, (_, lane, _) in history.ready().items():
        if lane == "ann":
            history.model.cancel(job_id)
    again = history.add("ann")
    assert history.ready()[again][2] == history.model.floors.get(1, 0.0) + 1.0


@FEW
@given(programs)
def test_the_announced_order_is_the_order_of_claims(program: list[Move]) -> None:
    model = History(program).model
    announced = model.order()
    assert [model.claim() for _ in announced] == announced
    assert model.claim() is None

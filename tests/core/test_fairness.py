"""Fair order as arithmetic: shares follow weights and costs, and nobody pays for somebody else's backlog."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towpath.core.fairness import Model, keep, stamp

passes = st.floats(min_value=0, max_value=1e9)
positive = st.floats(min_value=0.01, max_value=1e4)


@given(passes, st.none() | passes, positive, positive)
def test_a_stamp_lies_behind_the_floor_and_behind_the_lanes_own_tail(floor, tail, cost, weight):
    value = stamp(floor, tail, cost, weight)
    assert value > floor or cost / weight < 1e-6 * floor
    assert tail is None or value >= tail


@given(passes, passes, positive)
def test_a_tail_below_the_floor_counts_for_nothing(floor, tail, cost):
    if tail < floor:
        assert stamp(floor, tail, cost) == stamp(floor, None, cost)


@given(passes, passes)
def test_begun_work_never_falls_below_the_floor(floor, own):
    assert keep(floor, own) == max(floor, own)


class Line:
    """A model queue with names for its jobs, so that tests read as stories."""

    def __init__(self, **weights: float) -> None:
        self.model = Model(weights=weights)
        self._number = 0

    def add(self, lane: str, count: int = 1, **options) -> list[str]:
        made = []
        for _ in range(count):
            self._number += 1
            made.append(f"{self._number:06}")
            self.model.enqueue(made[-1], lane, **options)
            self.lane_of[made[-1]] = lane
        return made

    @property
    def lane_of(self) -> dict[str, str]:
        return self.__dict__.setdefault("_lanes", {})

    def served(self, count: int) -> Counter[str]:
        return Counter(self.lane_of[self.model.claim()] for _ in range(count))


def test_two_tenants_with_backlogs_take_turns():
    line = Line()
    line.add("a", 100)
    line.add("b", 100)
    assert line.served(40) == {"a": 20, "b": 20}


def test_a_newcomer_is_served_at_once_however_long_the_others_backlog():
    line = Line()
    line.add("big", 2000)
    line.served(50)
    newcomer = line.add("small", 10)
    order = [line.model.claim() for _ in range(20)]
    assert set(newcomer) <= set(order)


def test_a_client_that_sends_one_at_a_time_gets_half_beside_a_backlog():
    line = Line()
    line.add("backlog", 500)
    served: Counter[str] = Counter()
    line.add("one")
    for _ in range(200):
        job = line.model.claim()
        served[line.lane_of[job]] += 1
        if line.lane_of[job] == "one":
            line.add("one")
    assert abs(served["one"] - 100) <= 2


def test_weights_three_to_one_give_three_to_one():
    line = Line(heavy=3.0, light=1.0)
    line.add("heavy", 300)
    line.add("light", 300)
    served = line.served(120)
    assert abs(served["heavy"] - 90) <= 1


def test_costs_sixty_to_one_give_one_to_sixty():
    line = Line()
    line.add("long", 50, cost=60.0)
    line.add("short", 1000, cost=1.0)
    served = line.served(610)
    assert abs(served["long"] - 10) <= 1


def test_an_urgent_job_goes_first_and_costs_a_bystander_nothing():
    line = Line()
    bystander = line.add("bystander", 1)
    line.add("busy", 1000)
    before = line.model.order().index(bystander[0])
    [urgent] = line.add("urgent", 1, priority=0)
    assert line.model.claim() == urgent
    assert line.model.order().index(bystander[0]) == before
    line.add("busy", 1000)
    assert line.model.order().index(bystander[0]) == before


def test_cancelling_a_backlog_brings_the_next_job_of_that_lane_back_to_the_front():
    line = Line()
    for job in line.add("changed its mind", 500):
        line.model.cancel(job)
    line.add("other", 500)
    line.served(3)
    [new] = line.add("changed its mind")
    assert new in [line.model.claim() for _ in range(2)]


def test_an_idle_lane_saves_up_no_credit():
    line = Line()
    line.add("steady", 400)
    line.served(300)
    line.add("idle until now", 100)
    assert line.served(40)["idle until now"] <= 21


lanes = st.sampled_from(["a", "b", "c"])


@given(st.lists(st.tuples(lanes, st.sampled_from([0.5, 1.0, 4.0])), min_size=1, max_size=60), st.data())
def test_every_job_is_claimed_exactly_once_and_within_a_lane_in_order(arrivals, data):
    line = Line(a=2.0)
    claimed: list[str] = []
    for lane, cost in arrivals:
        line.add(lane, cost=cost)
        if data.draw(st.booleans()) and (job := line.model.claim()):
            claimed.append(job)
    while job := line.model.claim():
        claimed.append(job)
    assert sorted(claimed) == sorted(line.lane_of)
    for lane in "abc":
        own = [job for job in claimed if line.lane_of[job] == lane]
        assert own == sorted(own)


@pytest.mark.parametrize("claims", [0, 7])
def test_the_order_that_is_announced_is_the_order_that_happens(claims):
    line = Line(b=2.0)
    line.add("a", 10)
    line.add("b", 10, cost=3.0)
    line.add("c", 3, priority=2)
    line.served(claims)
    announced = line.model.order()
    assert [line.model.claim() for _ in announced] == announced

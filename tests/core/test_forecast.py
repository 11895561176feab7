"""A forecast plays a queue by the rules of the fair order."""

import random

from hypothesis import given
from hypothesis import strategies as st

from towpath.core.fairness import Model
from towpath.core.forecast import Cap, Parts, Piece, Subject, Where, foresee
from towpath.core.records import GATE_ROOTS, GATE_SLOTS


def waiting(name: str, pass_: float, *, lane: str = "a", band: int = 1, parts: Parts | None = None, seconds: float = 1.0):
    own = Piece(name, seconds, Where.READY, pass_)
    return Subject(name, lane, band, own, makes=parts, closing=None if parts is None else 0.0)


def parked(name: str, *, lane: str = "a", band: int = 1, seconds: float = 1.0):
    return Subject(name, lane, band, Piece(name, seconds, Where.PARKED))


def running(name: str, seconds: float, *, lane: str = "a", parts: list[Piece] | None = None, own: bool = False):
    piece = Piece(name, seconds, Where.RUNNING) if own else None
    return Subject(name, lane, 1, piece, parts or [], closing=None if own else 0.0, begun=True)


def order(told) -> list[str]:
    return sorted(told.places, key=told.places.__getitem__)


def test_the_lowest_band_is_begun_first_then_the_lowest_pass():
    subjects = [waiting("c", 2.0), waiting("b", 1.0), waiting("a", 9.0, band=0)]
    assert order(foresee(subjects, 1, asked={"a", "b", "c"})) == ["a", "b", "c"]


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 3), st.floats(0.1, 9)), min_size=1, max_size=30))
def test_work_without_parts_is_begun_in_the_order_of_the_model(wanted):
    model = Model()
    subjects = []
    for number, (lane, band, cost) in enumerate(wanted):
        name = f"{number:03}"
        subjects.append(waiting(name, model.enqueue(name, lane, band, cost), lane=lane, band=band))
    expected = model.order()
    random.Random(1).shuffle(subjects)
    assert order(foresee(subjects, 1, asked=expected)) == expected


def test_what_is_begun_has_no_place_in_line():
    told = foresee([running("a", 1.0, own=True), waiting("b", 1.0)], 1, asked={"a", "b"})
    assert told.places == {"b": 1}
    assert told.ends == {"a": 1.0, "b": 2.0}


def test_other_peoples_work_comes_first_and_takes_its_time():
    told = foresee([waiting("a", 1.0, seconds=10.0), waiting("b", 2.0, seconds=1.0)], 1, asked={"b"})
    assert told.ends["b"] == 11.0


def test_two_slots_are_twice_as_fast_as_one():
    def ends(slots: int) -> float:
        return foresee([waiting("a", 1.0, parts=Parts(8, 1.0, 5.0), seconds=0.0)], slots, asked={"a"}).ends["a"]

    assert ends(1) == 2 * ends(2) == 40.0


def test_what_is_left_of_a_running_part_counts_and_not_the_whole_of_it():
    part = Piece("a.1", 0.5, Where.RUNNING)
    assert foresee([running("a", 0.0, parts=[part])], 1, asked={"a"}).ends["a"] == 0.5


def test_a_lanes_cap_on_open_subjects_holds_the_next_until_one_has_ended():
    lanes = {"a": Cap(GATE_ROOTS, 1)}
    subjects = [waiting("a1", 1.0, seconds=5.0), parked("a2"), waiting("b", 1.5, lane="b"), waiting("c", 7.0, lane="c")]
    assert order(foresee(subjects, 2, asked={"a2"}, lanes=lanes)) == ["a1", "b", "c", "a2"]


def test_a_lanes_cap_on_slots_leaves_the_other_slots_to_others():
    lanes = {"a": Cap(GATE_SLOTS, 1)}
    subjects = [waiting("a1", 1.0, seconds=5.0), parked("a2", seconds=5.0), waiting("b", 9.0, lane="b")]
    told = foresee(subjects, 2, asked={"a1", "a2", "b"}, lanes=lanes)
    assert told.ends == {"a1": 5.0, "a2": 10.0, "b": 1.0}


def test_a_cap_of_nothing_is_never_begun():
    told = foresee([parked("a")], 4, asked={"a"}, lanes={"a": Cap(GATE_ROOTS, 0)})
    assert (told.places, told.ends) == ({}, {})


def test_a_short_one_of_somebody_else_does_not_wait_for_all_parts_of_a_long_one():
    long = waiting("a", 1.0, parts=Parts(100, 30.0, 1.0))
    told = foresee([long, waiting("b", 2.0, lane="b", parts=Parts(1, 30.0, 1.0))], 1, asked={"a", "b"})
    assert told.ends["b"] < 10
    assert told.ends["a"] > 100


def test_it_says_when_a_lane_ran_out_of_what_was_parked():
    lanes = {"a": Cap(GATE_ROOTS, 1)}
    subjects = [waiting("a1", 1.0), parked("a2"), waiting("b", 99.0, lane="b")]
    assert foresee(subjects, 1, asked={"b"}, lanes=lanes).dry == {"a": 1}


def test_it_stops_when_more_than_enough_are_begun():
    subjects = [waiting(f"{number:05}", float(number)) for number in range(5000)]
    assert len(foresee(subjects, 1, asked={"04999"}, most_places=1000).places) == 1001

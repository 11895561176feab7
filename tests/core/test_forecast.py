"""A forecast simulates a queue by the rules of the fair order."""

import random

from hypothesis import given
from hypothesis import strategies as st

from towpath.core.fairness import Model
from towpath.core.forecast import Cap, Family, Parts, Piece, Where, foresee
from towpath.core.records import GATE_ROOTS, GATE_SLOTS


def waiting(name: str, pass_: float, *, lane: str = "a", band: int = 1, parts: Parts | None = None, seconds: float = 1.0):
    own = Piece(name, seconds, Where.READY, pass_)
    return Family(name, lane, band, own, makes=parts, closing=None if parts is None else 0.0)


def parked(name: str, *, lane: str = "a", band: int = 1, seconds: float = 1.0):
    return Family(name, lane, band, Piece(name, seconds, Where.PARKED))


def running(name: str, seconds: float, *, lane: str = "a", parts: list[Piece] | None = None, own: bool = False):
    piece = Piece(name, seconds, Where.RUNNING) if own else None
    return Family(name, lane, 1, piece, parts or [], closing=None if own else 0.0, begun=True)


def order(told) -> list[str]:
    return sorted(told.places, key=told.places.__getitem__)


def test_the_lowest_band_is_begun_first_then_the_lowest_pass():
    families = [waiting("c", 2.0), waiting("b", 1.0), waiting("a", 9.0, band=0)]
    assert order(foresee(families, 1, asked={"a", "b", "c"})) == ["a", "b", "c"]


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 3), st.floats(0.1, 9)), min_size=1, max_size=30))
def test_work_without_parts_is_begun_in_the_order_of_the_model(wanted):
    model = Model()
    families = []
    for number, (lane, band, cost) in enumerate(wanted):
        name = f"{number:03}"
        families.append(waiting(name, model.enqueue(name, lane, band, cost), lane=lane, band=band))
    expected = model.order()
    random.Random(1).shuffle(families)
    assert order(foresee(families, 1, asked=expected)) == expected


def test_what_is_begun_has_no_place_in_line():
    told = foresee([running("a", 1.0, own=True), waiting("b", 1.0)], 1, asked={"a", "b"})
    assert told.places == {"b": 1}
    assert told.ends == {"a": 1.0, "b": 2.0}


def test_other_peoples_work_comes_first_and_takes_its_time():
    told = foresee([waiting("a", 1.0, seconds=10.0), waiting("b", 2.0, seconds=1.0)], 1, asked={"b"})
    assert told.ends["b"] == 11.0


def test_what_is_begun_keeps_its_place_when_its_parts_are_done():
    last = Piece("a.0", 1.0, Where.RUNNING)
    told = foresee([running("a", 0.0, parts=[last]), waiting("b", 0.5, lane="b", seconds=100.0)], 1, asked={"a", "b"})
    assert told.ends == {"a": 1.0, "b": 101.0}


def test_two_slots_are_twice_as_fast_as_one():
    def ends(slots: int) -> float:
        return foresee([waiting("a", 1.0, parts=Parts(8, 1.0, 5.0), seconds=0.0)], slots, asked={"a"}).ends["a"]

    assert ends(1) == 2 * ends(2) == 40.0


def test_what_is_left_of_a_running_part_counts_and_not_the_whole_of_it():
    part = Piece("a.1", 0.5, Where.RUNNING)
    assert foresee([running("a", 0.0, parts=[part])], 1, asked={"a"}).ends["a"] == 0.5


def test_a_lanes_cap_on_open_subjects_holds_the_next_until_one_has_ended():
    lanes = {"a": Cap(GATE_ROOTS, 1)}
    families = [waiting("a1", 1.0, seconds=5.0), parked("a2"), waiting("b", 1.5, lane="b"), waiting("c", 7.0, lane="c")]
    assert order(foresee(families, 2, asked={"a2"}, lanes=lanes)) == ["a1", "b", "c", "a2"]


def test_a_lanes_cap_on_slots_leaves_the_other_slots_to_others():
    lanes = {"a": Cap(GATE_SLOTS, 1)}
    families = [waiting("a1", 1.0, seconds=5.0), parked("a2", seconds=5.0), waiting("b", 9.0, lane="b")]
    told = foresee(families, 2, asked={"a1", "a2", "b"}, lanes=lanes)
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
    families = [waiting("a1", 1.0), parked("a2"), waiting("b", 99.0, lane="b")]
    assert foresee(families, 1, asked={"b"}, lanes=lanes).dry == {"a": 1}


def test_it_stops_when_more_than_enough_are_begun():
    families = [waiting(f"{number:05}", float(number)) for number in range(5000)]
    assert len(foresee(families, 1, asked={"04999"}, most_places=1000).places) == 1001


def test_those_that_work_on_one_subject_count_once_in_a_place_in_line():
    families = [waiting(name, float(number)) for number, name in enumerate("abcde")]
    for family, subject in zip(families, "xyxzx", strict=True):
        family.subject = subject
    told = foresee(families, 1, asked={"e"})
    assert told.order == {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    assert told.places == {"a": 1, "b": 2, "c": 2, "d": 3, "e": 3}


def test_what_waits_of_a_subject_that_is_under_way_is_not_begun_before_anybody():
    families = [running("a", 1.0, own=True), waiting("b", 1.0), waiting("c", 2.0)]
    families[0].subject = families[1].subject = "x"
    assert foresee(families, 1, asked={"b", "c"}).places == {"b": 1, "c": 1}


def test_a_family_that_has_only_parts_here_does_not_count_as_open():
    lanes = {"a": Cap(GATE_ROOTS, 1)}
    guest = Family("a0", "a", 1, parts=[Piece("a0.1", 5.0, Where.RUNNING)], begun=True, guest=True)
    told = foresee([guest, parked("a1")], 2, asked={"a0", "a1"}, lanes=lanes)
    assert told.ends == {"a0": 5.0, "a1": 1.0}


def test_a_job_that_runs_beside_its_parts_is_done_when_the_last_of_them_is():
    lanes = {"a": Cap(GATE_ROOTS, 1)}

    def ends(own: float, part: float) -> dict[str, float]:
        family = running("a1", own, own=True, parts=[Piece("a1.1", part, Where.RUNNING)])
        return foresee([family, parked("a2"), parked("a3")], 2, asked={"a1", "a2", "a3"}, lanes=lanes).ends

    assert ends(1.0, 5.0) == {"a1": 5.0, "a2": 6.0, "a3": 7.0}
    assert ends(5.0, 1.0) == {"a1": 5.0, "a2": 6.0, "a3": 7.0}

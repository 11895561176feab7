"""Ranges and reasons: what is decided about estimates without I/O."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towpath.core.prospects import OWN, Work, Workforce, eta, left


def test_an_estimate_is_a_range_around_what_is_foreseen():
    low, high = eta(20.0, Work.MEASURED)
    assert low < 20 < high


def test_the_more_is_known_of_the_work_the_narrower_is_the_range():
    widths = [high - low for low, high in (eta(100.0, between) for between in (OWN, Work.MEASURED, Work.KNOWN))]
    assert widths == sorted(widths)


def test_the_upper_end_leaves_room_for_what_others_may_send():
    assert eta(20.0, Work.MEASURED, crowded=200.0)[1] >= 200
    assert eta(20.0, Work.MEASURED, crowded=200.0)[0] == eta(20.0, Work.MEASURED)[0]


@given(st.floats(0.001, 1e6))
def test_while_something_is_left_no_estimate_says_that_nothing_is(seconds):
    low, high = eta(seconds, Work.MEASURED)
    assert 0 < low < seconds < high


@pytest.mark.parametrize(
    ("hands", "word"),
    [
        (Workforce("q", paused=True, slots=4, able=4), "is paused"),
        (Workforce("q"), "no live worker serves"),
        (Workforce("q", slots=4), "knows this kind of work"),
        (Workforce("q", slots=4, able=4, most=0), "its cap is 0"),
    ],
)
def test_where_nothing_is_begun_there_is_a_reason(hands, word):
    assert word in hands.hindrance


def test_slots_that_work_are_those_of_workers_that_know_how_within_the_cap():
    assert Workforce("q", slots=8, able=4).working == 4
    assert Workforce("q", slots=8, able=8, most=3).working == 3
    assert Workforce("q").working == 1
    assert Workforce("q", slots=8, able=8).hindrance is None


@given(st.floats(0.01, 1e4), st.floats(0.0, 1e5))
def test_what_runs_always_has_something_left_and_never_more_than_the_whole_before_its_time(whole, elapsed):
    found = left(whole, elapsed)
    assert found > 0
    if elapsed <= whole:
        assert found <= whole

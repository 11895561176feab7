"""When it pays to claim ahead: measured, and only while jobs take not much longer than a turn."""

import pytest

from towpath.engine.running.pace import Pace


def paced(*seconds: float, turn: float = 0.01, slots: int = 16) -> Pace:
    pace = Pace(slots)
    pace.turned(turn)
    for each in seconds:
        pace.ended(each)
    return pace


def test_nothing_ends_soon_as_far_as_anybody_knows_at_first():
    assert Pace(16).ending_soon(16) == 0
    assert paced(*[0.001] * 15).ending_soon(16) == 0


def test_jobs_that_are_shorter_than_a_turn_end_soon():
    assert paced(*[0.001] * 16).ending_soon(16) == 16


@pytest.mark.parametrize(("seconds", "soon"), [(0.01, 16), (0.016, 10), (0.02, 8), (0.032, 5)])
def test_of_jobs_that_are_somewhat_longer_than_a_turn_a_part_ends_in_one(seconds, soon):
    assert paced(*[seconds] * 100).ending_soon(16) == soon


def test_jobs_that_are_much_longer_than_a_turn_do_not():
    assert paced(*[0.04] * 100).ending_soon(16) == 0


def test_jobs_that_took_no_time_at_all_end_soon():
    assert paced(*[0.0] * 100).ending_soon(16) == 16


@pytest.mark.parametrize(("short", "soon"), [(24, 12), (16, 8), (8, 4)])
def test_of_a_mixture_its_short_part_ends_soon(short, soon):
    assert paced(*[0.001] * short, *[0.5] * (32 - short)).ending_soon(16) == soon


def test_what_was_long_ago_is_forgotten():
    assert paced(*[0.001] * 1000, *[0.5] * 32).ending_soon(16) == 0
    assert paced(*[0.5] * 1000, *[0.001] * 32).ending_soon(16) == 16


def test_a_misjudgement_counts_like_a_long_job():
    pace = paced(*[0.001] * 32)
    pace.misjudged(16)
    assert pace.ending_soon(16) == 8
    pace.misjudged(100)
    assert pace.ending_soon(16) == 0


def test_the_length_of_a_turn_follows_the_last_ones():
    pace = paced(turn=0.01)
    assert pace.turn == 0.01
    for _ in range(50):
        pace.turned(0.002)
    assert pace.turn == pytest.approx(0.002, rel=0.1)


def test_patience_is_measured_in_turns_and_never_below_what_a_busy_machine_needs():
    assert paced(turn=0.05).patience == pytest.approx(0.1)
    assert paced(turn=0.0001).patience == 0.01

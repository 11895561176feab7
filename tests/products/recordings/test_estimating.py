"""Ranges and reasons: what is decided about estimates without I/O."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towpath.recordings import estimating
from towpath.recordings.estimating import Basis, Hands, Pace, Speeds, outlook

BUSY = Hands("transcription", slots=4, able=4)
PACE = Pace(10.0, Basis.RECENT)


def test_an_estimate_is_a_range_around_what_is_foreseen():
    low, high = outlook(20.0, PACE, BUSY).seconds
    assert low < 20 < high


def test_the_more_is_known_of_the_speed_the_narrower_is_the_range():
    spans = [outlook(100.0, Pace(10.0, basis), BUSY).seconds for basis in (Basis.OWN, Basis.RECENT, Basis.KNOWN)]
    widths = [high - low for low, high in spans]
    assert widths == sorted(widths)


@given(st.floats(0.001, 1e6))
def test_while_something_is_left_no_estimate_says_that_nothing_is(seconds):
    low, high = outlook(seconds, PACE, BUSY).seconds
    assert 0 < low < seconds < high


@pytest.mark.parametrize(
    ("hands", "word"),
    [
        (Hands("transcription", paused=True, slots=4, able=4), "is paused"),
        (Hands("transcription"), "no live worker serves"),
        (Hands("transcription", slots=4), "knows this kind of work"),
        (Hands("transcription", slots=4, able=4, most=0), "its cap is 0"),
    ],
)
def test_where_nothing_is_begun_there_is_a_reason_instead_of_an_estimate(hands, word):
    told = outlook(20.0, PACE, hands)
    assert told.seconds is None
    assert word in told.reason


def test_without_a_known_speed_there_is_a_reason_instead_of_an_estimate():
    assert estimating.speed([]) is None
    assert estimating.speed([(0.0, 0.0)]) is None
    told = outlook(20.0, None, BUSY)
    assert (told.seconds, told.reason) == (None, estimating.NO_SPEED)


def test_what_is_out_of_sight_has_a_reason_instead_of_an_estimate():
    assert outlook(None, PACE, BUSY) == estimating.Outlook(None, estimating.TOO_FAR)
    assert outlook(None, PACE, BUSY, begun=True).reason == estimating.STUCK


def test_slots_that_work_are_those_of_workers_that_know_how_within_the_cap():
    assert Hands("q", slots=8, able=4).working == 4
    assert Hands("q", slots=8, able=8, most=3).working == 3
    assert Hands("q").working == 1


def test_telling_speakers_apart_has_a_speed_of_its_own():
    speeds = Speeds(Pace(20.0, Basis.RECENT), Pace(1.0, Basis.KNOWN))
    assert speeds.of(False).speed == 20.0
    assert speeds.of(True).speed == 1.0


def test_speed_is_so_much_per_second():
    assert estimating.speed([(100.0, 10.0), (100.0, 10.0)]) == 10.0


def test_the_parts_of_a_recording_take_as_long_as_its_audio_at_this_pace():
    parts = estimating.parts_of(1200.0, PACE)
    assert parts.count * parts.seconds == pytest.approx(120.0)
    assert parts.count * parts.cost == pytest.approx(1200.0)


@given(st.floats(0.01, 1e4), st.floats(0.0, 1e5))
def test_what_runs_always_has_something_left_and_never_more_than_the_whole_before_its_time(whole, elapsed):
    found = estimating.left(whole, elapsed)
    assert found > 0
    if elapsed <= whole:
        assert found <= whole


def test_a_length_is_guessed_from_the_size_until_it_is_known():
    assert estimating.seconds_of(12.5, 13.0, 10**9, "audio/mpeg") == 12.5
    assert estimating.seconds_of(None, 13.0, 10**9, "audio/mpeg") == 13.0
    assert estimating.seconds_of(None, None, 16_000 * 60, "audio/mpeg") == 60

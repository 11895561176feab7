"""Groups of windows, merged segments, estimates, titles: what is decided without I/O."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towpath.recordings import estimating, merging
from towpath.recordings.estimating import Ahead, Speeds
from towpath.recordings.keeping import LONGEST_TITLE, title_from


@given(st.integers(1, 2000))
def test_every_window_is_in_one_group_and_groups_stay_small(count):
    parts = merging.groups(list(range(count)))
    assert [window for part in parts for window in part] == list(range(count))
    assert max(map(len, parts)) <= merging.MOST_WINDOWS
    assert len(parts) >= min(count, 4)


def test_segments_are_merged_in_order_of_time():
    results = [
        {"engine": "a", "segments": [[3.0, 4.0, None, "c"]]},
        {"engine": "a", "segments": [[0.0, 1.0, None, "a"], [1.0, 2.0, None, "b"]]},
    ]
    assert [segment[3] for segment in merging.merged(results)] == ["a", "b", "c"]
    assert merging.engine_in([*results, {"engine": "b", "segments": []}]) == "a, b"


def test_an_estimate_is_a_range_around_what_is_left():
    low, high = estimating.estimate(Ahead(100, 40), [Ahead(60, 60), Ahead(140)], Speeds(10.0, None))
    assert low < 20 < high


@given(st.floats(0.001, 1e6), st.floats(0.01, 1e5))
def test_while_something_is_left_no_estimate_says_that_nothing_is(seconds, rate):
    low, high = estimating.estimate(Ahead(seconds), [], Speeds(rate, None))
    assert 0 < low < seconds / rate < high


def test_without_a_known_speed_there_is_no_estimate():
    assert estimating.speed([]) is None
    assert estimating.estimate(Ahead(100), [], Speeds(estimating.speed([(0.0, 0.0)]), None)) is None


def test_telling_speakers_apart_is_estimated_by_a_speed_of_its_own():
    speeds = Speeds(20.0, 1.0)
    low, high = estimating.estimate(Ahead(100, speakers=True), [Ahead(20)], speeds)
    assert low < 101 < high
    low, high = estimating.estimate(Ahead(100), [], speeds)
    assert low < 5 < high
    assert estimating.estimate(Ahead(100, speakers=True), [], Speeds(20.0, None)) is None


def test_speed_is_seconds_of_audio_per_second():
    assert estimating.speed([(100.0, 10.0), (100.0, 10.0)]) == 10.0


def test_a_length_is_guessed_from_the_size_until_it_is_known():
    assert estimating.seconds_of(12.5, 10**9, "audio/mpeg") == 12.5
    assert estimating.seconds_of(None, 16_000 * 60, "audio/mpeg") == 60


@pytest.mark.parametrize(
    ("given_title", "file_name", "title"),
    [
        (None, "meeting.mp3", "meeting"), ("  Board\nmeeting ", "x.mp3", "Board meeting"), ("", ".mp3", ".mp3"),
        (None, "", "untitled"), (None, "../../etc/<b>passwd</b>.mp3", "../../etc/<b>passwd</b>"),
        ("x" * 900, "y", "x" * LONGEST_TITLE), ("a\0b", "y", "a␀b"),
    ],
)  # fmt: skip
def test_a_title_is_one_line_of_storable_text(given_title, file_name, title):
    assert title_from(given_title, file_name) == title

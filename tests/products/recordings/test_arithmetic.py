"""Groups of windows, merged segments, titles: what is decided without I/O."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from towpath.recordings import merging
from towpath.recordings.stored import LONGEST_TITLE, title_from


@given(st.integers(1, 2000))
def test_every_window_is_in_one_group_and_groups_stay_small(count):
    parts = merging.groups(list(range(count)))
    assert [window for part in parts for window in part] == list(range(count))
    assert max(map(len, parts)) <= merging.MOST_WINDOWS
    assert len(parts) >= min(count, 4)
    assert len(parts) == merging.number_of_groups(count)


def test_segments_are_merged_in_order_of_time():
    results = [
        {"engine": "a", "segments": [[3.0, 4.0, None, "c"]]},
        {"engine": "a", "segments": [[0.0, 1.0, None, "a"], [1.0, 2.0, None, "b"]]},
    ]
    assert [segment[3] for segment in merging.merged(results)] == ["a", "b", "c"]
    assert merging.engine_in([*results, {"engine": "b", "segments": []}]) == "a, b"


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

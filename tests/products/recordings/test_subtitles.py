"""Subtitles that players like, and that people can read."""

import pytest

from tests.products.recordings.subtitle_rules import broken, cues_in
from tests.products.recordings.test_exports import exported
from towpath.recordings import exports
from towpath.recordings.records import Line

SPEECH = (
    "Good evening everybody, and welcome to the meeting; tonight we talk about locks, because last year's repairs cost "
    "far more than anybody had thought, and about the towpath. Mind you, that is not decided yet!"
)


def srt(*lines: Line) -> list[tuple[int, int, str]]:
    text = exports.as_srt(exported(*lines))
    assert broken(text) == []
    assert broken(exports.as_vtt(exported(*lines))) == []
    return cues_in(text)


def test_a_long_line_is_cut_where_its_clauses_end():
    shown = [payload.replace("\n", " ") for _, _, payload in srt(Line(0, 0.0, 14.0, None, SPEECH))]
    assert " ".join(shown) == SPEECH
    assert [text for text in shown if text[-1] not in ",;.!"] == []


def test_parts_of_a_line_are_shown_while_they_are_said():
    found = srt(Line(0, 10.0, 24.0, None, SPEECH))
    assert (found[0][0], found[-1][1]) == (10_000, 24_000)
    said = 0
    for start, _, payload in found:
        assert start == pytest.approx(10_000 + 14_000 * said / (len(SPEECH) + 1), abs=2)
        said += len(payload) + 1


def test_who_speaks_slowly_is_cut_by_time_and_not_only_by_length():
    assert len(srt(Line(0, 0.0, 20.0, None, "One two three, four five six."))) >= 3


def test_words_that_are_wider_than_a_row_are_cut_and_nothing_of_them_is_lost():
    address = "https://example.org/" + "path/" * 30
    found = srt(Line(0, 0.0, 30.0, "Anna", f"See {address} there."))
    assert "".join("".join(payload.split()) for _, _, payload in found) == f"Anna:See{address}there."


def test_writing_without_spaces_fits_too():
    text = "今日は水門の修理についてお話しします。" * 12
    assert "".join("".join(payload.split()) for _, _, payload in srt(Line(0, 0.0, 60.0, None, text))) == text


def test_two_who_speak_at_once_are_shown_one_after_the_other():
    found = srt(Line(0, 1.0, 5.0, "Anna", "I think so."), Line(1, 2.5, 4.0, "Bob", "No!"), Line(2, 2.5, 3.0, "Eve", "Yes!"))
    assert sorted(payload for _, _, payload in found) == ["Anna: I think so.", "Bob: No!", "Eve: Yes!"]


def test_a_speaker_is_named_when_it_is_somebody_else():
    found = srt(*(Line(number, number * 3.0, number * 3 + 2.0, who, "Yes.") for number, who in enumerate("AABA")))
    assert [payload for _, _, payload in found] == ["A: Yes.", "Yes.", "B: Yes.", "A: Yes."]

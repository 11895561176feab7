"""Telling speakers apart."""

from types import SimpleNamespace

import pytest

from tests.models.sounds import BUNDLED, sample
from towpath.models.speakers import told_apart
from towpath.models.speech import engine_for


def line(text: str, start: float, duration: float, *spans: tuple[float, float, int, int]) -> SimpleNamespace:
    made = [
        SimpleNamespace(start_time=at, duration=length, speaker_id=who, start_char=char) for at, length, who, char in spans
    ]
    return SimpleNamespace(text=text, start_time=start, duration=duration, speaker_spans=made or None)


def test_a_line_is_cut_where_the_speaker_changes_and_no_letter_is_lost() -> None:
    text = "Schön, ja? Nein."
    turn = len("Schön, ja? ".encode())
    found = told_apart([line(text, 1.0, 3.0, (1.0, 2.0, 77, 0), (3.0, 1.0, 5, turn))], 10.0)
    assert [(item.speaker, item.text) for item in found] == [("Speaker 1", "Schön, ja?"), ("Speaker 2", "Nein.")]
    assert [(item.start, item.end) for item in found] == [(1.0, 3.0), (3.0, 4.0)]


def test_a_line_without_turns_has_no_speaker_and_nothing_ends_after_the_audio() -> None:
    found = told_apart([line("Hello.", 1.0, 3.0), line("Past the end.", 5.0, 1.0)], 2.0)
    assert [(item.speaker, item.text, item.end) for item in found] == [(None, "Hello.", 2.0)]


@pytest.mark.slow
def test_two_people_who_talk_are_told_apart() -> None:
    talk = sample("endgame_nagg_nell.wav")[int(2.1 * 16_000) : int(4.6 * 16_000)]
    found = engine_for(BUNDLED).transcribe(talk, speakers=True)
    assert "hear me" in found[0].text
    assert {segment.speaker for segment in found} <= {"Speaker 1", "Speaker 2"}
    assert all(segment.speaker for segment in found)

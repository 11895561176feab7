"""Transcripts as files."""

import json
from datetime import UTC, datetime

import pytest

from tests.products.recordings.subtitle_rules import cues_in
from towpath.recordings import exports
from towpath.recordings.records import Line, Recording, Summary, Transcript

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def exported(*lines: Line, summary: Summary | None = None, title: str = "Locks & canals") -> exports.Exported:
    recording = Recording(
        "r1", "north", "north", title, "locks.mp3", "a1", "audio/mpeg", 10, "en", False, True, 61.5, "t1", None, None,
        None, NOW,
    )  # fmt: skip
    return exports.Exported(
        recording, Transcript("t1", "r1", "moonshine/tiny-en", "en", len(lines), 1.0, None, NOW), lines, summary
    )


LINES = (
    Line(0, 0.0, 2.5, None, "Good morning."),
    Line(1, 2.5, 4.0, None, "We open the lok.", edited="We open the lock."),
    Line(2, 3661.25, 3662.0, "Anna", "Mind the <gate> & the\nwater.", edited_by="ann"),
)


def test_text_has_paragraphs_and_corrected_lines():
    assert exports.as_text(exported(*LINES)) == ("Good morning. We open the lock.\n\nAnna: Mind the <gate> & the\nwater.\n")


def test_srt_numbers_its_cues_from_one():
    assert exports.as_srt(exported(*LINES)).split("\n\n")[0] == "1\n00:00:00,000 --> 00:00:02,500\nGood morning."
    assert exports.as_srt(exported(*LINES)).endswith(
        "3\n01:01:01,250 --> 01:01:02,250\nAnna: Mind the <gate> & the water.\n"
    )


def test_vtt_escapes_what_would_be_markup():
    text = exports.as_vtt(exported(*LINES))
    assert text.startswith("WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nGood morning.\n\n")
    assert text.endswith("01:01:01.250 --> 01:01:02.250\n<v Anna>Mind the &lt;gate&gt; &amp; the water.\n")


def test_a_line_cannot_end_its_cue_or_begin_another():
    wicked = Line(0, 1.0, 1.0, None, "one\n\n2\n00:00:00.000 --> 00:00:09.000\ntwo")
    for render in (exports.as_srt, exports.as_vtt):
        assert render(exported(wicked)).count("-->") == 1


def test_a_cue_that_nobody_could_read_in_time_stays_a_second_unless_another_comes():
    srt = exports.as_srt(
        exported(Line(0, 1.0, 1.0, None, "Hm."), Line(1, 5.0, 5.1, None, "So."), Line(2, 5.3, 7.0, None, "Well."))
    )
    assert [cue[:2] for cue in cues_in(srt)] == [(1000, 2000), (5000, 5300), (5300, 7000)]


def test_json_has_text_segments_and_summary():
    summary = Summary("s1", "r1", "t1", "About locks.", "extractive", None, None, None, None, None, NOW)
    value = json.loads(exports.as_json(exported(*LINES, summary=summary)))
    assert value["text"].startswith("Good morning. We open the lock.")
    assert value["segments"][1] == {"start": 2.5, "end": 4.0, "speaker": None, "text": "We open the lock."}
    assert (value["summary"]["method"], value["duration"], value["created_at"]) == (
        "extractive",
        61.5,
        "2026-03-01T12:00:00.000Z",
    )


def test_markdown_says_how_the_summary_was_made_and_is_only_text():
    summary = Summary("s1", "r1", "t1", "*Locks*", "extractive", None, None, None, None, None, NOW)
    text = exports.as_markdown(exported(*LINES, summary=summary, title="<script>alert(1)</script>"))
    assert "# \\<script\\>" in text
    assert "<script>" not in text.replace("\\<", "")
    assert "\\*Locks\\*" in text
    assert "sentences of the transcript" in text


def test_markdown_has_a_paragraph_with_its_time_for_every_line():
    text = exports.as_markdown(exported(*LINES))
    assert text.split("\n\n")[2:] == [
        "**00:00:00** Good morning.",
        "**00:00:02** We open the lock.",
        "**01:01:01** Anna: Mind the \\<gate\\> & the water.\n",
    ]


@pytest.mark.parametrize("render", [render for render, _ in exports.FORMATS.values()])
def test_an_empty_transcript_can_be_exported(render):
    assert render(exported()) is not None


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("a/../b", "a_.._b.txt"),
        ("  ", "recording.txt"),
        ("Größe", "Größe.txt"),
        ("x" * 300, "x" * 100 + ".txt"),
        ("a\0b\n", "a_b.txt"),
    ],
)
def test_file_names_fit_every_file_system(title, name):
    assert exports.file_name(title, "txt") == name

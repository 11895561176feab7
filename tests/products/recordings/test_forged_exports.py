"""Whatever a line or a speaker's name says, the file has the cues of the transcript and no others."""

import html
import json
import re
from dataclasses import replace
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.products.recordings.subtitle_rules import broken, cues_in, lines_in
from tests.products.recordings.test_exports import NOW, exported
from towpath.recordings import exports
from towpath.recordings.records import Line, Summary

_WICKED = (
    "\n", "\r\n", "\r", "\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x00", "\x1b", "\t", "--", "-->", ">", "<", "&",
    "&gt;", "<v Bob>", "</v>", "{\\an8}", "1", "2\n", "00:00:09,000 --> 00:00:10,000", "00:09.000 --> 00:10.000", "NOTE",
    "WEBVTT", "STYLE", ":", "# ", "~~~", "```", "===", "---", "(", "=cmd()", "Bob: I did it",
)  # fmt: skip
_ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
WORDS = st.lists(st.sampled_from(_WICKED) | _ANY, max_size=8).map("".join)


@st.composite
def transcripts(draw: st.DrawFn) -> list[Line]:
    lines, now = [], 0
    for number in range(draw(st.integers(0, 4))):
        start = now + draw(st.integers(0, 5_000))
        now = start + draw(st.integers(1, 5_000))
        speaker, text = draw(st.none() | WORDS), draw(WORDS)
        lines.append(Line(number, start / 1000, now / 1000, speaker, text))
    return lines


def words_of(text: str | None) -> str:
    """What people see of it: its words in one line."""
    shown = "".join(each for each in text or "" if each.isspace() or not (ord(each) < 32 or 127 <= ord(each) < 160))
    return " ".join(shown.split())


def letters(text: str) -> str:
    """Whatever cut it into cues, rows and pieces of long words, these stay."""
    return "".join(text.split())


@given(transcripts())
def test_srt_has_what_was_said_in_cues_of_its_own_and_nothing_else(lines: list[Line]):
    text = exports.as_srt(exported(*lines))
    said, before = [], None
    for line in lines:
        who, what = (words_of(part).replace("-->", "→") for part in (line.speaker, line.text))
        said.append(f"{who}: {what}" if who and line.speaker != before else what)
        before = line.speaker
    assert [each for each in broken(text) if not each.endswith("shows nothing")] == []
    assert letters("".join(cue[2] for cue in cues_in(text))) == letters("".join(said))


@given(transcripts())
def test_vtt_has_what_everybody_said_and_nothing_else(lines: list[Line]):
    text = exports.as_vtt(exported(*lines))
    assert broken(text) == []
    spoken = []
    for _, _, payload in cues_in(text):
        voice = re.fullmatch(r"(?:<v ([^<>]+)>)?([^<>]*)", payload)
        assert voice, payload
        spoken.append(tuple(html.unescape((part or "").strip()) for part in voice.groups()))
    found = [(who, "".join(letters(what) for _, what in parts)) for who, parts in groupby(spoken, key=lambda one: one[0])]
    said = [(words_of(line.speaker), letters(words_of(line.text))) for line in lines if words_of(line.text)]
    assert found == [(who, "".join(what for _, what in parts)) for who, parts in groupby(said, key=lambda one: one[0])]


@given(transcripts())
def test_text_has_a_paragraph_for_every_turn_and_no_other(lines: list[Line]):
    apart = [replace(line, start=line.start + 10 * line.number, end=line.end + 10 * line.number) for line in lines]
    text = exports.as_text(exported(*apart))
    said = []
    for line in apart:
        who, what = words_of(line.speaker), words_of(line.text)
        said.append(" ".join(filter(None, [f"{who}:" if who else "", what])))
    lines_in(text)
    found = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
    assert found == [part for part in said if part]


@given(transcripts(), WORDS, WORDS)
def test_markdown_has_the_headings_and_times_of_the_transcript_and_no_other(lines: list[Line], title: str, about: str):
    summary = Summary("s1", "r1", "t1", about, "extractive", None, None, None, None, None, NOW)
    text = exports.as_markdown(exported(*lines, title=title, summary=summary))
    blocks = lines_in(text)
    assert [line[:2] for line in blocks if line.startswith("#")] == ["# ", "##", "##"]
    assert len([line for line in blocks if line.startswith("**")]) == len(lines)
    assert not [line for line in blocks if re.match(r"\s*(~~~|```|<|=+\s*$|-+\s*$)", line)]


@given(transcripts())
def test_json_is_read_back_word_for_word(lines: list[Line]):
    found = json.loads(exports.as_json(exported(*lines)))["segments"]
    assert [(one["start"], one["end"], one["speaker"], one["text"]) for one in found] == [
        (line.start, line.end, line.speaker, line.text) for line in lines
    ]


@pytest.mark.parametrize("name", ["srt", "vtt"])
def test_the_name_of_a_speaker_cannot_forge_a_cue(name: str):
    forged = "Anna\n\n2\n00:00:05,000 --> 00:00:06,000\nBob: I did it"
    text = exports.FORMATS[name][0](exported(Line(0, 1.0, 2.0, forged, "Hello.")))
    assert [cue[0] >= 1000 and cue[1] <= 2000 for cue in cues_in(text)] in ([True], [True, True])
    assert broken(text) == []

"""Whatever a line or a speaker's name says, the file has the cues of the transcript and no others."""

import html
import json
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def milliseconds(clock: str) -> int:
    hours, minutes, seconds, rest = map(int, re.fullmatch(r"(\d+):(\d\d):(\d\d)[.,](\d{3})", clock).groups())
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + rest


def lines_in(text: str) -> list[str]:
    """As readers of subtitles break lines, and Python's own, which breaks them at more."""
    assert text.splitlines() == re.split(r"\r\n|\r|\n", text)[: len(text.splitlines())]
    return text.split("\n")


def cues_in(text: str) -> list[tuple[int, int, str]]:
    """Wherever a line has an arrow, a cue begins, as the most lenient readers do; it ends with the next empty line."""
    lines, found = lines_in(text), []
    for at, line in enumerate(lines):
        if "-->" in line:
            start, end = map(milliseconds, line.split(" --> "))
            rest = lines[at + 1 :]
            found.append((start, end, "\n".join(rest[: rest.index("")])))
    return found


def times(lines: Sequence[Line]) -> list[tuple[int, int]]:
    return [(round(line.start * 1000), round(line.end * 1000)) for line in lines]


@given(transcripts())
def test_srt_is_read_back_as_the_cues_that_went_in(lines: list[Line]):
    text = exports.as_srt(exported(*lines))
    said = []
    for line in lines:
        who, what = (words_of(part).replace("-->", "→") for part in (line.speaker, line.text))
        said.append(f"{who}: {what}".rstrip() if who else what)
    found = cues_in(text)
    assert [cue[:2] for cue in found] == times(lines)
    assert [cue[2].rstrip() for cue in found] == said
    numbers = [block.split("\n")[0] for block in re.split(r"\n\n+(?=\d+\n\d\d:)", text) if block]
    assert numbers == [str(number) for number in range(1, len(lines) + 1)]


@given(transcripts())
def test_vtt_is_read_back_as_the_cues_and_speakers_that_went_in(lines: list[Line]):
    found = cues_in(exports.as_vtt(exported(*lines)))
    assert [cue[:2] for cue in found] == times(lines)
    spoken = []
    for _, _, payload in found:
        voice = re.fullmatch(r"(?:<v ([^<>]+)>)?([^<>]*)", payload)
        assert voice, payload
        spoken.append(tuple(html.unescape((part or "").strip()) for part in voice.groups()))
    assert spoken == [(words_of(line.speaker), words_of(line.text)) for line in lines]


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
    assert [part for part in found if part != f"({exports.SPEAKERS_OF_WINDOWS})"] == [part for part in said if part]


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
    assert [cue[:2] for cue in cues_in(text)] == [(1000, 2000)]

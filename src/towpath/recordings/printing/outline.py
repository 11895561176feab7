"""What stands in a printed transcript, whatever it is printed as."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from towpath.recordings import escaping

# No document can hold them: what is no character at all, and halves of pairs.
_UNFIT = re.compile("[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_RIGHT_TO_LEFT = ("R", "AL")
_STRONG = (*_RIGHT_TO_LEFT, "L")


@dataclass(frozen=True, slots=True)
class Said:
    """A line: when, who, what."""

    clock: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Outline:
    title: str
    facts: str
    language: str | None
    summary: Sequence[str]
    summary_by: str
    lines: Sequence[Said]


def outline_of(
    title: str, facts: Sequence[str], language: str | None, lines: Sequence[Said], *, summary: str = "",
    summary_by: str = "",
) -> Outline:  # fmt: skip
    """All of it as text that a document can hold, line by line."""
    paragraphs = [found for line in summary.splitlines() if (found := _flat(line))]
    said = [Said(one.clock, _flat(one.speaker), _flat(one.text)) for one in lines]
    return Outline(_flat(title), _flat(", ".join(facts)), language, paragraphs, _flat(summary_by), said)


def _flat(text: str) -> str:
    return _UNFIT.sub("", escaping.one_line(text))


def is_right_to_left(text: str) -> bool:
    """As its first letter with a direction has it."""
    found = next((kind for char in text if (kind := unicodedata.bidirectional(char)) in _STRONG), "L")
    return found in _RIGHT_TO_LEFT

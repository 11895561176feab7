"""What players and readers want of subtitles, checked on the finished file: SRT or VTT."""

from __future__ import annotations

import html
import re
from itertools import pairwise

WIDEST, MOST_ROWS, LONGEST = 42, 2, 7_000


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


def broken(text: str) -> list[str]:
    """Every rule that the file breaks, with the cue that breaks it."""
    cues = cues_in(text)
    found = [f"cue {number} {wrong}" for number, cue in enumerate(cues, 1) for wrong in _wrong(*cue)]
    found += [f"cue {at} ends after the next begins" for at, (one, two) in enumerate(pairwise(cues), 1) if one[1] > two[0]]
    if not text.startswith("WEBVTT"):
        numbers = [block.split("\n")[0] for block in re.split(r"\n\n+(?=\d+\n\d\d:)", text) if block]
        if numbers != [str(number) for number in range(1, len(cues) + 1)]:
            found.append(f"cues are numbered {numbers}")
    return found


def _wrong(start: int, end: int, payload: str) -> list[str]:
    rows = [html.unescape(re.sub(r"<[^<>]*>", "", row)) for row in payload.split("\n")]
    checks = {
        "shows nothing": not any(rows),
        f"has {len(rows)} rows": len(rows) > MOST_ROWS,
        f"is {max(map(len, rows))} wide": max(map(len, rows)) > WIDEST,
        f"lasts {end - start} ms": not 0 < end - start <= LONGEST,
    }
    return [what for what, is_so in checks.items() if is_so]

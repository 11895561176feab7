"""Who says what in the whole of some audio, from rows of what was heard in its windows; see `hear_window`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from towpath.models.voices.linking import Linked, Stretch, linked

_PRINT, _WINDOW = 4, 6
"""Places in a row of what was heard."""


def people_in(lines: Sequence[Sequence[Any]]) -> Linked:
    """Who says each line, over the whole recording. What a service tells apart within one of its windows stays together."""
    if any(print_of(line) for line in lines):
        return linked([Stretch(line[1] - line[0], print_of(line), _same(line)) for line in lines])
    numbers: dict[str, int] = {}
    people = [None if line[2] is None else numbers.setdefault(line[2], len(numbers) + 1) for line in lines]
    return Linked(people, [None] * len(lines))


def segments_of(rows: Sequence[Sequence[Any]], *, speakers: bool) -> list[dict[str, Any]]:
    """The rows as results tell them: from when to when, by whom if that was asked for, and what was said."""
    people = people_in(rows).people if speakers else [None] * len(rows)
    return [
        {"start": row[0], "end": row[1], "speaker": None if person is None else f"Speaker {person}", "text": row[3]}
        for row, person in zip(rows, people, strict=True)
    ]


def print_of(line: Sequence[Any]) -> str | None:
    return line[_PRINT] if len(line) > _PRINT else None


def _same(line: Sequence[Any]) -> object:
    """The service's name for a voice and the window in which it holds."""
    return None if line[2] is None or len(line) <= _WINDOW else (line[_WINDOW], line[2])

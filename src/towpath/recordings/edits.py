"""What people corrected in a transcript, and where it belongs in a newer one. Nothing here does I/O.

A correction belongs to a stretch of time. A newer transcript takes it over where it has a line for the same stretch; what
finds no line is answered too, so that nothing a person typed is lost.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from towpath import new_id
from towpath.recordings.records import Edit, Line

_SAME = 0.8
"""Two stretches are the same line if so much of what they cover together is common to both."""


def edits_in(lines: Iterable[Line]) -> list[Edit]:
    """Of the words. Who speaks goes over in a way of its own, see speaking.py."""
    return [
        Edit(new_id(), line.start, line.end, line.heard, line.edited, line.speaker, line.edited_by)
        for line in lines
        if line.edited is not None
    ]


def laid_onto(lines: Sequence[Line], edits: Iterable[Edit]) -> tuple[list[Line], list[Edit]]:
    """The lines, which come in order of time, with the corrections that fit; and those for which there is no line."""
    placed: dict[int, Line] = {}
    left = []
    starts = [line.start for line in lines]
    for edit in sorted(edits, key=lambda edit: edit.start):
        reach = (edit.end - edit.start) * (1 / _SAME - 1)  # the same line cannot begin further away
        near = lines[bisect_left(starts, edit.start - reach) : bisect_right(starts, edit.start + reach)]
        line = _line_for(edit, (line for line in near if line.number not in placed))
        if line is None:
            left.append(edit)
        else:
            placed[line.number] = _corrected(line, edit)
    return [placed.get(line.number, line) for line in lines], left


def _line_for(edit: Edit, lines: Iterable[Line]) -> Line | None:
    best = max(lines, key=lambda line: _likeness(edit, line), default=None)
    return best if best is not None and _likeness(edit, best) >= _SAME else None


def _likeness(edit: Edit, line: Line) -> float:
    """How much of what the two cover together they have in common."""
    common = min(edit.end, line.end) - max(edit.start, line.start)
    together = max(edit.end, line.end) - min(edit.start, line.start)
    return max(0.0, common) / together if together > 0 else 1.0


def _corrected(line: Line, edit: Edit) -> Line:
    """A correction that says what is heard now is one no longer."""
    edited = None if edit.text == line.heard else edit.text
    return replace(line, edited=edited, edited_by=edit.by)

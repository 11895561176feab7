"""A transcript as cues that players like: two rows of at most 42 characters, at most seven seconds, never two at a time.

A line that is longer is cut where a sentence or a clause ends, if it can be, and each part is shown while it is said, as far
as its share of the characters tells. Nothing here does I/O.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from towpath.recordings.records import Line

WIDEST = 42
"""Characters of a row."""
LONGEST = 7.0
"""Seconds that a cue is shown."""
_SHORTEST = 1.0
"""Seconds below which nobody can read, so that a cue is shown longer where nothing follows."""
_LEAST = 0.002
"""A cue without length is never shown; files tell thousandths, rounded."""
_MOST_TOKENS = 2 * WIDEST
"""Of a cue: each has at least one character."""

# With the full-width marks of Chinese and Japanese.
_SENTENCE = re.compile(r"""[.!?…。\uff01\uff1f]["'”’»)\]]*$""")
_CLAUSE = re.compile(r"""[,;:–—、\uff0c\uff1b\uff1a]["'”’»)\]]*$""")
_OPENING = """
    and but or nor so because that which who whom whose where when while if then than as to of in on at by for from with
    und oder aber denn weil dass der die das et ou mais donc car que qui y o pero porque e ma perché che
"""
_OPENS = frozenset(_OPENING.split())
"""Cutting before these reads better than behind them."""
# What cutting costs: a cue more, the middle of a clause, a cue that is over before it is read or that stays too long.
_CUE, _IN_CLAUSE, _BEFORE_OPENING, _AT_CLAUSE, _HASTY, _LINGERING = 10.0, 9.0, 6.0, 2.0, 6.0, 1000.0


@dataclass(frozen=True, slots=True)
class Cue:
    """`speaker` is whose line it is a part of."""

    start: float
    end: float
    speaker: str | None
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, or a piece of one that is wider than a row; `glue` is what stands before it."""

    glue: str
    text: str

    def __len__(self) -> int:
        return len(self.glue) + len(self.text)


def cues(lines: Iterable[Line], said: Callable[[Line, Line | None], str]) -> list[Cue]:
    """`said` is what is shown of a line that comes after another, in one line; of nothing there is no cue."""
    found: list[Cue] = []
    last: Line | None = None
    for line in sorted(lines, key=lambda line: (line.start, line.end)):
        found += _cues_of(line, _tokens(said(line, last)))
        last = line
    return _one_at_a_time(found)


def _cues_of(line: Line, tokens: list[_Token]) -> list[Cue]:
    if not tokens:
        return []
    length = sum(map(len, tokens))
    pace = max(line.end - line.start, 0.0) / length
    found, past = [], 0
    for part in _parts(tokens, pace):
        size = sum(map(len, part))
        start = line.start + past * pace
        past += size
        found.append(Cue(start, start + min(size * pace, LONGEST), line.speaker, _rows(part) or ()))
    return found


def _tokens(text: str) -> list[_Token]:
    return [_Token("" if at else " ", word[at : at + WIDEST]) for word in text.split() for at in range(0, len(word), WIDEST)]


def _parts(tokens: Sequence[_Token], pace: float) -> list[tuple[_Token, ...]]:
    """The cheapest way to cut a line, found from its end backwards."""
    count = len(tokens)
    best: list[tuple[float, int]] = [(0.0, count)] * (count + 1)
    for start in range(count - 1, -1, -1):
        choices = []
        for end in range(start + 1, min(count, start + _MOST_TOKENS) + 1):
            part = tuple(tokens[start:end])
            if _rows(part) is None:
                break
            choices.append((_cost(part, tokens[end] if end < count else None, pace) + best[end][0], end))
        best[start] = min(choices)
    found, at = [], 0
    while at < count:
        found.append(tuple(tokens[at : best[at][1]]))
        at = best[at][1]
    return found


def _cost(part: Sequence[_Token], following: _Token | None, pace: float) -> float:
    seconds = sum(map(len, part)) * pace
    lingers = _LINGERING if seconds > LONGEST and len(part) > 1 else 0.0
    hastens = _HASTY if seconds < _SHORTEST and following is not None else 0.0
    return _CUE + lingers + hastens + (_cut(part[-1], following) if following is not None else 0.0)


def _cut(before: _Token, following: _Token) -> float:
    """How bad it is to go to a new cue or row between these two."""
    if _SENTENCE.search(before.text):
        return 0.0
    if _CLAUSE.search(before.text):
        return _AT_CLAUSE
    return _BEFORE_OPENING if following.text.lower() in _OPENS else _IN_CLAUSE


@lru_cache(maxsize=4096)
def _rows(part: tuple[_Token, ...]) -> tuple[str, ...] | None:
    """One row if it fits, else two of about the same width; None if it does not fit into two."""
    whole = _row(part)
    if len(whole) <= WIDEST:
        return (whole,)
    choices = []
    for at in range(1, len(part)):
        above, below = _row(part[:at]), _row(part[at:])
        if len(above) <= WIDEST and len(below) <= WIDEST:
            choices.append((_cut(part[at - 1], part[at]) + abs(len(above) - len(below)) / 2, above, below))
    return min(choices)[1:] if choices else None


def _row(part: Sequence[_Token]) -> str:
    return "".join(token.glue + token.text for token in part).strip()


def _one_at_a_time(found: Sequence[Cue]) -> list[Cue]:
    """Each ends before the next begins. What two people say at once is shown one after the other."""
    placed: list[Cue] = []
    for cue in sorted(found, key=lambda cue: cue.start):
        start = cue.start
        if placed and start < placed[-1].end:
            last = placed[-1]
            if start - last.start >= min(_SHORTEST, last.end - last.start):
                placed[-1] = replace(last, end=start)
            else:
                start = last.end
        end = max(cue.end, start + _LEAST)
        placed.append(replace(cue, start=start, end=min(end, start + LONGEST)))
    for at, cue in enumerate(placed):
        limit = placed[at + 1].start if at + 1 < len(placed) else cue.start + LONGEST
        placed[at] = replace(cue, end=max(cue.end, min(cue.start + _SHORTEST, limit)))
    return placed

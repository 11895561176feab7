"""Who speaks in the lines of a new transcript: what people have said of speakers goes over by the time at which they speak.

A recording does not change, so whoever spoke at a moment of the old transcript speaks at that moment of the new one. Nothing
here does I/O.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

_MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class Turn:
    """A stretch of time and the number of who speaks in it."""

    start: float
    end: float
    who: int | None


def carried(new: Sequence[Turn], old: Iterable[Turn], said: frozenset[int]) -> list[int | None]:
    """The speaker's number of each new turn, whose own numbers are those of voices told apart anew. Speakers that people
    have said something of (`said`) keep their lines; the others keep their numbers where most of what they say is the
    same."""
    before = sorted((turn for turn in old if turn.who is not None), key=lambda turn: turn.start)
    if not before:
        return [turn.who for turn in new]
    ends = _running_ends(before)
    shares = [_shares(turn, before, ends) for turn in new]
    numbers = _numbers(new, shares, said)
    return [_who(turn, share, numbers, said) for turn, share in zip(new, shares, strict=True)]


def _who(turn: Turn, share: Mapping[int, float], numbers: Mapping[int, int], said: frozenset[int]) -> int | None:
    who, seconds = max(share.items(), key=lambda item: item[1], default=(None, 0.0))
    if who in said and seconds >= _MOSTLY * (turn.end - turn.start):
        return who
    return None if turn.who is None else numbers[turn.who]


def _running_ends(turns: Sequence[Turn]) -> list[float]:
    """The latest end of all turns up to each: they may overlap."""
    found, last = [], 0.0
    for turn in turns:
        last = max(last, turn.end)
        found.append(last)
    return found


def _shares(turn: Turn, before: Sequence[Turn], ends: Sequence[float]) -> dict[int, float]:
    """How many seconds of it each of the old speakers spoke."""
    found: dict[int, float] = defaultdict(float)
    for old in _meeting(turn, before, ends):
        common = min(turn.end, old.end) - max(turn.start, old.start)
        if common > 0 and old.who is not None:
            found[old.who] += common
    return found


def _meeting(turn: Turn, before: Sequence[Turn], ends: Sequence[float]) -> Iterator[Turn]:
    for place in range(bisect_left(ends, turn.start), len(before)):
        if before[place].start >= turn.end:
            return
        yield before[place]


def _numbers(new: Sequence[Turn], shares: Sequence[Mapping[int, float]], said: frozenset[int]) -> dict[int, int]:
    """For each new voice a number: that of the old speaker with whom it has most in common, or one that nobody had."""
    common: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for turn, share in zip(new, shares, strict=True):
        if turn.who is not None:
            for who, seconds in share.items():
                common[turn.who][who] += seconds
    found: dict[int, int] = {}
    for seconds, voice, who in sorted(((s, v, w) for v, of in common.items() for w, s in of.items()), reverse=True):
        mostly = seconds >= _MOSTLY * sum(common[voice].values())
        if voice not in found and (who not in found.values() or (who in said and mostly)):
            found[voice] = who
    taken = {*found.values(), *said, *(who for share in shares for who in share)}
    for voice in sorted({turn.who for turn in new if turn.who is not None} - set(found)):
        found[voice] = next(number for number in range(1, len(taken) + 2) if number not in taken)
        taken.add(found[voice])
    return found

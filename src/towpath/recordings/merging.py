"""Windows into groups for child jobs, and what they heard back into one transcript. Nothing here does I/O."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from towpath.models.steadiness import remark

T = TypeVar("T")
_LANGUAGE = 5
"""Its place in a row of what was heard, see `hear_window`."""

MOST_WINDOWS = 2
"""Of one child job: some minute of audio, so that nobody waits long for a turn."""
_ENOUGH_GROUPS = 16


def _size(windows: int) -> int:
    return min(MOST_WINDOWS, max(1, math.ceil(windows / _ENOUGH_GROUPS)))


def number_of_groups(windows: int) -> int:
    return math.ceil(windows / _size(windows))


def groups(windows: Sequence[T]) -> list[list[T]]:
    """Short recordings are spread over several workers, long ones do not make thousands of jobs."""
    size = _size(len(windows))
    return [list(windows[start : start + size]) for start in range(0, len(windows), size)]


def merged(results: Iterable[Any]) -> list[list[Any]]:
    """All segments in order of time; children answer in the order of their windows, which is almost that."""
    segments = [segment for result in results if result for segment in result["segments"]]
    return sorted(segments, key=lambda segment: (segment[0], segment[1]))


def language_in(lines: Iterable[Sequence[Any]]) -> str | None:
    """What the engine found to be spoken for most of the time; None if it does not say."""
    seconds: dict[str, float] = {}
    for line in lines:
        if len(line) > _LANGUAGE and line[_LANGUAGE]:
            seconds[line[_LANGUAGE]] = seconds.get(line[_LANGUAGE], 0.0) + line[1] - line[0]
    return max(seconds, key=lambda language: seconds[language], default=None)


def remark_in(results: Iterable[Any]) -> str | None:
    """Whether the only language that the engine knows was spoken."""
    told = [result["steady"] for result in results if result and result.get("steady")]
    return remark(told[0][0], [found for _, found in told]) if told else None


def engine_in(results: Iterable[Any]) -> str:
    """Usually one; workers with different settings may have shared the work."""
    return ", ".join(sorted({result["engine"] for result in results if result})) or "none"


def cost_in(results: Iterable[Any]) -> float | None:
    """Cents; unknown if a part of it is."""
    costs = [result.get("cost_cents") for result in results if result]
    return None if None in costs else float(sum(costs))

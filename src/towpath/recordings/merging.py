"""Windows into groups for child jobs, and what they heard back into one transcript. Nothing here does I/O."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

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


def engine_in(results: Iterable[Any]) -> str:
    """Usually one; workers with different settings may have shared the work."""
    return ", ".join(sorted({result["engine"] for result in results if result})) or "none"


def cost_in(results: Iterable[Any]) -> float | None:
    """Cents; unknown if a part of it is."""
    costs = [result.get("cost_cents") for result in results if result]
    return None if None in costs else float(sum(costs))

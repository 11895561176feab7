"""Many jobs, a few per transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_TOGETHER = 50


def batches(ids: Sequence[str]) -> Iterator[list[str]]:
    """Few enough not to hold others up, enough to be quick."""
    for start in range(0, len(ids), _TOGETHER):
        yield list(ids[start : start + _TOGETHER])

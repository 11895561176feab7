"""How long jobs of an operation take here, from what the engine measures anyway: for estimates of work that nobody has said
more about. What is told of a job with children includes the time in which it waited for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta

from towpath.core import histogram
from towpath.core.prospects import Between, Work
from towpath.store.contract import Tx

_LATELY, _EVER = timedelta(hours=2), timedelta(days=7)
_ENOUGH = 5
"""So many runs show how far they differ. With fewer the range is as wide as for a guess."""
_SOME = 1.0
"""Seconds that a job of an unknown operation is taken to need, so that at least the order can be told."""
_WIDEST: Between = (0.05, 20.0)


@dataclass(frozen=True, slots=True)
class Durations:
    """Of the operations of one queue, as far as they have ended lately."""

    known: Mapping[str, Work]

    def work(self, operation: str) -> Work:
        """Without parts, as if one slot did it all."""
        found = self.known.get(operation)
        if found is None:
            return Work(_SOME, reason=f"no job of the operation {operation!r} has ended here lately, to estimate by")
        return found


def _usual(counts: Counter[int]) -> Work:
    mean = sum(histogram.middle(bucket) * jobs for bucket, jobs in counts.items()) / counts.total()
    return Work(mean, between=_between(counts, mean))


def _between(counts: Counter[int], mean: float) -> Between:
    """As wide as the runs differ, nine of ten of them, and never narrower than for those that do not."""
    if counts.total() < _ENOUGH:
        return Work.KNOWN
    low, high = histogram.percentile(counts, 0.05) or mean, histogram.percentile(counts, 0.95) or mean
    return max(_WIDEST[0], min(Work.MEASURED[0], low / mean)), min(_WIDEST[1], max(Work.MEASURED[1], high / mean))


async def read_durations(tx: Tx, queue: str, operations: Collection[str]) -> Durations:
    """Of the last hours; of operations that had none then, of the last days."""
    found = await _since(tx, queue, operations, _LATELY)
    found |= await _since(tx, queue, set(operations) - found.keys(), _EVER)
    return Durations({operation: _usual(counts) for operation, counts in found.items()})


async def _since(tx: Tx, queue: str, operations: Collection[str], age: timedelta) -> dict[str, Counter[int]]:
    found: dict[str, Counter[int]] = {}
    if operations:
        asked = {"queue": queue, "operations": sorted(operations), "since": tx.now - age}
        for row in await tx.fetch("run_durations", **asked):
            found.setdefault(row["operation"], Counter())[row["bucket"]] += row["jobs"]
    return found

"""Logarithmic buckets: any number of durations in a few dozen counts, percentiles within nine per cent.

Bucket 0 holds everything up to a millisecond; bucket n holds what is above `edge(n - 1)` and up to `edge(n)`, and each
edge is the fourth root of two above the one before. A percentile is answered as the middle of its bucket, so it is off
by at most the eighth root of two, whatever was measured. Counts of the same bucket can be added: over minutes, queues,
processes.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping

FIRST = 0.001
"""The upper edge of bucket 0, in seconds."""
PER_DOUBLING = 4
LAST = 40 * PER_DOUBLING
"""Half a lifetime. What claims to have taken longer is counted here."""
_A_LITTLE = 1e-9


def bucket(seconds: float) -> int:
    """The bucket of a duration. Clocks that were set back give negative ones: they count as none."""
    if seconds <= FIRST:
        return 0
    # A value on an edge belongs below it; the last bits of a logarithm must not decide otherwise.
    return max(0, math.ceil(min(LAST, math.log2(seconds / FIRST) * PER_DOUBLING - _A_LITTLE)))


def edge(number: int) -> float:
    """The longest duration that a bucket holds, in seconds."""
    return float(FIRST * 2 ** (number / PER_DOUBLING))


def middle(number: int) -> float:
    """What stands for every duration in the bucket, in seconds."""
    return FIRST / 2 if number == 0 else float(FIRST * 2 ** ((number - 0.5) / PER_DOUBLING))


def count(durations: Iterable[float]) -> Counter[int]:
    """How many are in each bucket. Sorted, a bucket is one step: a busy second has tens of thousands of them."""
    ordered = sorted(durations)
    counts: Counter[int] = Counter()
    start = 0
    while start < len(ordered):
        number = bucket(ordered[start])
        above = FIRST * 2 ** ((number + _A_LITTLE) / PER_DOUBLING)
        end = len(ordered) if number == LAST else max(start + 1, bisect_right(ordered, above, start))
        counts[number] += end - start
        start = end
    return counts


def percentile(counts: Mapping[int, int], share: float) -> float | None:
    """The duration that this share of all durations does not exceed, in seconds; None if there are none."""
    total = sum(counts.values())
    seen = 0
    for number in sorted(counts):
        seen += counts[number]
        if seen > 0 and seen >= share * total:
            return middle(number)
    return None

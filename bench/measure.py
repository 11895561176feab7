"""Ratios on a noisy machine: the reference runs before and after every subject, and medians over rounds are kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean, median

Measurement = Callable[[], float]
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Comparison:
    """What the rounds of one system said: jobs per second, and each as a ratio to the references around it."""

    rates: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return median(self.rates)

    @property
    def ratio(self) -> float:
        return median(self.ratios)


def compare(
    reference_name: str,
    reference: Measurement,
    subjects: Mapping[str, Measurement],
    *,
    rounds: int,
    progress: Progress,
) -> dict[str, Comparison]:
    """Measure R A R B R … in every round; the reference itself is part of the answer, with ratio 1."""

    def measured(name: str, measurement: Measurement) -> float:
        rate = measurement()
        progress(name, rate)
        return rate

    result = {name: Comparison() for name in (reference_name, *subjects)}
    before = measured(reference_name, reference)
    own = result[reference_name]
    own.rates.append(before)
    for _ in range(rounds):
        for name, measurement in subjects.items():
            rate = measured(name, measurement)
            after = measured(reference_name, reference)
            own.rates.append(after)
            result[name].rates.append(rate)
            result[name].ratios.append(rate / fmean((before, after)))
            before = after
    own.ratios.append(1.0)
    return result


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]

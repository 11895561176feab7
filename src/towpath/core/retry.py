"""When to try again."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Retry:
    """Exponential backoff with full jitter: the n-th delay is uniform in [0, min(max_delay, base * factor**n)]."""

    limit: int = 3
    base: float = 2.0
    factor: float = 2.0
    max_delay: float = 300.0
    jitter: bool = True

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"limit counts every attempt, so it must be at least 1, got {self.limit}")
        if self.base < 0 or self.max_delay < 0:
            raise ValueError(f"base and max_delay must be zero or more seconds, got {self.base} and {self.max_delay}")
        if self.factor < 1:
            raise ValueError(f"factor must be at least 1, got {self.factor}")

    def ceiling(self, failures: int) -> float:
        """The longest delay after this many failures (1 = the first)."""
        try:
            grown = self.base * self.factor ** max(0, failures - 1)
        except OverflowError:
            return self.max_delay
        return min(self.max_delay, grown)

    def delay(self, failures: int, uniform: Callable[[float, float], float] = random.uniform) -> float:
        ceiling = self.ceiling(failures)
        return uniform(0.0, ceiling) if self.jitter else ceiling

"""A job inside a simulator: it moves on with every look, and, in demonstrations, with time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from towpath.providers.simulator.faults import Fault


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a job takes: so many looks, and so many seconds at the least."""

    looks: int = 2
    seconds: float = 0.0


@dataclass(slots=True)
class SimulatedJob:
    id: str
    key: str
    request: Any
    """As the provider's own model has read it."""
    faults: frozenset[Fault]
    pace: Pace
    clock: Callable[[], float] = time.monotonic
    made_at: float = field(init=False)
    dated: datetime = field(default_factory=lambda: datetime.now(UTC))
    """When it was made, for people to read."""
    looks: int = 0
    cancelled: bool = False

    def __post_init__(self) -> None:
        self.made_at = self.clock()

    def look(self) -> str:
        """One poll: `waiting`, `running`, `odd` (unheard of), `gone`, `cancelled`, `failed`, `partial` or `done`."""
        self.looks += 1
        return self.state

    @property
    def state(self) -> str:
        if Fault.VANISHES in self.faults and self.looks > 1:
            return "gone"
        if self.cancelled:
            return "cancelled"
        if Fault.BACKWARDS in self.faults and self.looks == 2:
            return "waiting"
        if Fault.UNKNOWN_STATUS in self.faults and self.looks == 2:
            return "odd"
        if self._under_way:
            return "waiting" if self.looks <= 0 else "running"
        if Fault.FAILS in self.faults:
            return "failed"
        return "partial" if Fault.PARTIAL in self.faults else "done"

    @property
    def _under_way(self) -> bool:
        if Fault.NEVER_ENDS in self.faults:
            return True
        strange = len(self.faults & {Fault.BACKWARDS, Fault.UNKNOWN_STATUS, Fault.VANISHES})
        return self.looks < self.pace.looks + strange or self.clock() - self.made_at < self.pace.seconds

    def fails(self, number: int) -> bool:
        """Whether its input or request of that number, from 0, has failed."""
        if Fault.FAILS in self.faults:
            return True
        return Fault.PARTIAL in self.faults and number % 2 == 1

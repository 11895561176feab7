"""Fair order as arithmetic.

Every ready job carries a virtual finish time, its *pass*. Workers take the lowest pass first, so a queue with any number
of lanes costs what a FIFO costs. A lane's next job is stamped behind the lane's own last one; a lane that was idle
starts at the floor, which is the highest pass claimed so far. Nothing is shared between the enqueues of two lanes.

`stamp` is the rule the stores obey. `Model` is the whole queue in memory; the tests drive it against the real stores.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field


def stamp(floor: float, tail: float | None, cost: float, weight: float = 1.0) -> float:
    """The pass of a lane's next ready job. `tail` is the lane's highest ready pass at or above the floor, if any."""
    start = floor if tail is None or tail < floor else tail
    return start + cost / weight


def keep(floor: float, pass_: float) -> float:
    """Begun work keeps its place; it never falls behind the floor, where a claim would not look for it."""
    return max(floor, pass_)


@dataclass
class Model:
    """One queue, one process, no clock: what fair order means when nothing goes wrong."""

    weights: dict[str, float] = field(default_factory=dict)
    floors: dict[int, float] = field(default_factory=dict)
    _ready: dict[int, list[tuple[float, str]]] = field(default_factory=dict)
    _jobs: dict[str, tuple[int, str, float]] = field(default_factory=dict)
    _begun: dict[str, tuple[int, str, float]] = field(default_factory=dict)

    def enqueue(self, job_id: str, lane: str, priority: int = 1, cost: float = 1.0) -> float:
        floor = self.floors.get(priority, 0.0)
        passes = [p for band, name, p in self._jobs.values() if band == priority and name == lane and p >= floor]
        value = stamp(floor, max(passes, default=None), cost, self.weights.get(lane, 1.0))
        self._place(job_id, lane, priority, value)
        return value

    def give_back(self, job_id: str) -> None:
        """A claimed job comes back: released, retried or rescued."""
        priority, lane, value = self._begun.pop(job_id)
        self._place(job_id, lane, priority, keep(self.floors.get(priority, 0.0), value))

    def _place(self, job_id: str, lane: str, priority: int, value: float) -> None:
        self._jobs[job_id] = (priority, lane, value)
        heapq.heappush(self._ready.setdefault(priority, []), (value, job_id))

    def claim(self) -> str | None:
        """The next job: lowest band first, then lowest pass, then oldest id."""
        for priority in sorted(self._ready):
            heap = self._ready[priority]
            while heap:
                value, job_id = heapq.heappop(heap)
                if self._jobs.get(job_id, (None, None, None))[2] == value:
                    self._begun[job_id] = self._jobs.pop(job_id)
                    self.floors[priority] = max(self.floors.get(priority, 0.0), value)
                    return job_id
        return None

    def cancel(self, job_id: str) -> None:
        self._jobs.pop(job_id, None)

    def order(self) -> list[str]:
        """Every ready job in claim order."""
        return [job_id for _, _, job_id in sorted((band, value, job_id) for job_id, (band, _, value) in self._jobs.items())]

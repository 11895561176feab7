"""What all simulators share: jobs, faults, a ledger, and ids that are the same in every run."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Iterator
from typing import Any

from towpath.providers.simulator.faults import Fault, Faults
from towpath.providers.simulator.jobs import Pace, SimulatedJob
from towpath.providers.simulator.ledger import Ledger

RETRY_AFTER = 1
"""Seconds that a 429 asks for."""


class Simulator:
    """One provider. `app` is its ASGI application; `served` puts it on a port."""

    name = "simulator"

    def __init__(self, *, seed: int = 0, pace: Pace | None = None) -> None:
        self.random = random.Random(seed)
        self.pace = pace or Pace()
        self.faults = Faults()
        self.ledger = Ledger()
        self.jobs: dict[str, SimulatedJob] = {}
        self.files: dict[str, bytes] = {}
        self.url = ""
        """Where it is served; results link to it."""
        self._numbers: Iterator[int] = itertools.count(1)
        self._lock = threading.Lock()

    @property
    def app(self) -> Any:
        raise NotImplementedError

    def arm(self, fault: Fault, times: int = 1) -> None:
        self.faults.arm(fault, times)

    def new_id(self, prefix: str = "") -> str:
        with self._lock:
            return f"{prefix}{next(self._numbers):06d}{self.random.getrandbits(48):012x}"

    def accept(self, job_id: str, key: str, request: Any, units: int) -> SimulatedJob:
        """A job is made, and from here on it is paid for."""
        job = SimulatedJob(job_id, key, request, self.faults.of_next_job(), self.pace)
        self.jobs[job_id] = job
        self.ledger.pay(key, job_id, units)
        return job

    def found(self, job_id: str) -> SimulatedJob | None:
        """The job, unless it has vanished."""
        job = self.jobs.get(job_id)
        return None if job is None or job.state == "gone" else job

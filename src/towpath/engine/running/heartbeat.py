"""Renews the leases of a worker from a thread of its own, so that a blocked event loop loses no job.

A handler that overstays its timeout by more than the grace is no longer renewed: its lease runs out and the job is
rescued elsewhere, while its late writes are fenced off.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from towpath.core.records import WorkerRow
from towpath.engine.tending.vigil import Vigil
from towpath.store.contract import Heart

log = logging.getLogger("towpath.heartbeat")
GRACE_SECONDS = 30.0
_FIRST_SECONDS = 2.0
_AGAIN_SECONDS = 1.0  # after a beat that failed: the leases may have little time left when the database is back


class Heartbeat:
    def __init__(
        self,
        heart: Heart,
        worker: WorkerRow,
        lease_seconds: float,
        lost: Callable[[str, int, str], None],
        vigil: Vigil | None = None,
        running: Callable[[], int] | None = None,
    ) -> None:
        """`running` says how many slots are taken; without it, it is what there are leases for."""
        self._heart, self._worker, self._lease_seconds, self._lost = heart, worker, lease_seconds, lost
        self._vigil = vigil or Vigil(lease_seconds)
        self._running = running
        # job id -> attempt, and the monotonic instant after which to let go. The loop writes it and the thread copies it
        # whole, which the interpreter does in one step: no lock on the way of every job.
        self._leases: dict[str, tuple[int, float]] = {}
        self._stop = threading.Event()
        self._told = threading.Event()
        self._thread = threading.Thread(target=self._run, name="towpath-heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wait_for_first(self) -> None:
        """Until the others can know of this worker; not for long if the database does not answer."""
        self._told.wait(_FIRST_SECONDS)

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=15)

    def hold(self, job_id: str, attempt: int, timeout: float) -> None:
        self._leases[job_id] = (attempt, time.monotonic() + timeout + GRACE_SECONDS)

    def drop(self, job_id: str, attempt: int) -> None:
        if self._leases.get(job_id, (None,))[0] == attempt:
            del self._leases[job_id]

    def _run(self) -> None:
        interval = self._lease_seconds / 3
        try:
            while True:
                came_through = self._beat()
                self._told.set()
                if self._stop.wait(interval if came_through else min(interval, _AGAIN_SECONDS)):
                    return
        finally:
            self._heart.close()

    def _beat(self) -> bool:
        """Whether it came through."""
        now = time.monotonic()
        leases = self._leases.copy()
        held = [(job_id, attempt) for job_id, (attempt, until) in leases.items() if until > now]
        overdue = len(leases) - len(held)
        if overdue:
            log.warning("%d handlers overstayed their timeout and are no longer renewed", overdue)
        running = len(held) if self._running is None else self._running()
        try:
            beat = self._heart.beat(replace(self._worker, running=running), held, self._lease_seconds)
        except Exception as error:
            log.warning("a heartbeat failed and will be tried again: %s", error)
            return False
        if beat.now is not None:
            self._vigil.look(beat.now)
        attempts = dict(held)
        for job_id, state in beat.lost.items():
            self._lost(job_id, attempts[job_id], state)
        return True

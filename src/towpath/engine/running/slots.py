"""What a worker holds: jobs in its slots, and behind them those that are claimed and wait for a slot."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator

from towpath.core.records import PRIORITIES
from towpath.engine.running.pace import Pace
from towpath.engine.running.running_job import RunningJob
from towpath.store.contract import Claimed

Key = tuple[str, int]  # job and attempt: a lost attempt may still be ending when the next one comes

SPLIT_FROM = 64


class Ahead:
    """A job that is claimed and has not been begun."""

    __slots__ = ("job", "looks")

    def __init__(self, job: Claimed) -> None:
        self.job = job
        self.looks = 0  # how often it was seen waiting


class Slots:
    """Between a claim and its end a job waits, runs, and is settled; a slot is taken only while it runs.

    What waits is begun by band, and within a band in the order of claims: a later urgent job comes before everything else
    that has not been begun.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._usable = number
        # With many slots half of them at a time: one half is claimed and settled while the other half runs.
        self._batch = number if number < SPLIT_FROM else number // 2
        self.running: dict[Key, RunningJob] = {}  # in the order of beginning
        self.waiting = 0
        self.settling = 0
        self._bands: dict[int, deque[Ahead]] = {band: deque() for band in PRIORITIES}

    def ending_soon(self, coming: int, pace: Pace) -> int:
        """How many slots that are taken, or will be by what is on its way, are free again when the next turn is answered."""
        return pace.ending_soon(min(self.number, self._begun_within(pace.short) + self.waiting + coming))

    def room(self, coming: int, ending_soon: int) -> int:
        """How many jobs to ask for: what is free, and what will be when the answer is there. So never more than the number
        of slots is claimed ahead. How much may wait for its settle is bounded, too."""
        claimed = len(self.running) + self.waiting + coming
        return min(self._usable - claimed + ending_soon, 3 * self.number - claimed - self.settling, self._batch)

    def _begun_within(self, seconds: float) -> int:
        since, young = time.monotonic() - seconds, 0
        for running_job in reversed(self.running.values()):
            if running_job.began < since:
                break
            young += 1
        return young

    @property
    def empty(self) -> bool:
        """Whether nothing runs, waits or is still to be written."""
        return not (self.running or self.waiting or self.settling)

    def admit(self, job: Claimed) -> None:
        self._bands[job.priority].append(Ahead(job))
        self.waiting += 1

    def next(self) -> Ahead | None:
        """The first in line, if a slot is free for it."""
        if not self.waiting or len(self.running) >= self._usable:
            return None
        for band in self._bands.values():
            if band:
                self.waiting -= 1
                return band.popleft()
        return None

    @property
    def can_begin(self) -> bool:
        return self.waiting > 0 and len(self.running) < self._usable

    def close(self) -> None:
        """Nothing is begun any more."""
        self._usable = 0

    def withdraw(self, key: Key) -> Ahead | None:
        """A job that waits, and will not be begun here."""
        for ahead in self._all_waiting():
            if (ahead.job.id, ahead.job.attempt) == key:
                return self._take([ahead])[0]
        return None

    def withdraw_all(self) -> list[Ahead]:
        return self._take(list(self._all_waiting()))

    def seen_waiting(self, most: int) -> list[Ahead]:
        """A look at what waits; answers those that have now been seen more often than `most`, and takes them out."""
        for ahead in self._all_waiting():
            ahead.looks += 1
        return self._take([ahead for ahead in self._all_waiting() if ahead.looks > most])

    def attempts_of(self, job_id: str) -> list[Key]:
        """Which attempts of it are held."""
        keys = [key for key in self.running if key[0] == job_id]
        return keys + [(ahead.job.id, ahead.job.attempt) for ahead in self._all_waiting() if ahead.job.id == job_id]

    def _all_waiting(self) -> Iterator[Ahead]:
        return (ahead for band in self._bands.values() for ahead in band)

    def _take(self, chosen: list[Ahead]) -> list[Ahead]:
        for ahead in chosen:
            self._bands[ahead.job.priority].remove(ahead)
        self.waiting -= len(chosen)
        return chosen

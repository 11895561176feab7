"""How long jobs take beside how long a turn at the database takes: whether it pays to claim ahead.

A slot whose job has ended stays empty until the next claim is answered. If jobs take no longer than that, slots are empty
half of the time, so the worker asks for what will be free by the time the answer is there. Both durations are measured;
nobody has to set anything.
"""

from __future__ import annotations

from collections import deque

_TURNS_REMEMBERED = 8  # roughly: each new turn counts for an eighth of the average
_ENDINGS_REMEMBERED = 32
_ENOUGH_ENDINGS = 16  # to go by
_PATIENT_TURNS = 2.0
_LEAST_PATIENCE = 0.01


class Pace:
    def __init__(self, slots: int) -> None:
        self.turn = 0.0
        """Seconds from asking for jobs to having them, lately."""
        self._endings: deque[bool] = deque(maxlen=max(_ENDINGS_REMEMBERED, slots))  # whether each was shorter than a turn
        self._short = 0

    def turned(self, seconds: float) -> None:
        """A turn has brought jobs."""
        self.turn = seconds if not self.turn else self.turn + (seconds - self.turn) / _TURNS_REMEMBERED

    def ended(self, seconds: float) -> None:
        """A job has left its slot."""
        self._remember(seconds < self.turn)

    def misjudged(self, jobs: int) -> None:
        """So many were claimed ahead and no slot became free for them: what runs is longer than was thought."""
        for _ in range(jobs):
            self._remember(False)

    def _remember(self, short: bool) -> None:
        endings = self._endings
        if len(endings) == endings.maxlen:
            self._short -= endings[0]
        endings.append(short)
        self._short += short

    def ending_soon(self, young: int) -> int:
        """How many of so many jobs that have run for less than a turn will have ended when the next one is answered."""
        known = len(self._endings)
        return round(young * self._short / known) if known >= _ENOUGH_ENDINGS else 0

    @property
    def patience(self) -> float:
        """Seconds between two looks at what was claimed ahead. Who is still without a slot after a few of them goes back."""
        return max(_LEAST_PATIENCE, _PATIENT_TURNS * self.turn)

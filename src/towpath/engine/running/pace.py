"""How long jobs take beside how long a turn at the database takes: whether it pays to claim ahead.

A slot whose job has ended stays empty until the next claim is answered. If jobs take not much longer than that, slots are
empty for a good part of the time, so the worker asks for what will be free by the time the answer is there. Both durations
are measured; nobody has to set anything.
"""

from __future__ import annotations

from collections import deque

_TURNS_REMEMBERED = 8  # roughly: each new turn counts for an eighth of the average
_ENDINGS_REMEMBERED = 32
_ENOUGH_ENDINGS = 16  # to go by
_SHORT_TURNS = 4.0  # with longer jobs a slot is empty for less than a fifth of the time, and guesses are poorer
_PATIENT_TURNS = 2.0
_LEAST_PATIENCE = 0.01


class Pace:
    def __init__(self, slots: int) -> None:
        self.turn = 0.0
        """Seconds from asking for jobs to having them, lately."""
        # How long each of the last jobs took, in seconds; None if it was not short.
        self._endings: deque[float | None] = deque(maxlen=max(_ENDINGS_REMEMBERED, slots))

    def turned(self, seconds: float) -> None:
        """A turn has brought jobs."""
        self.turn = seconds if not self.turn else self.turn + (seconds - self.turn) / _TURNS_REMEMBERED

    @property
    def short(self) -> float:
        """Seconds. Whoever has run for longer is not expected to end soon."""
        return _SHORT_TURNS * self.turn

    def ended(self, seconds: float) -> None:
        """A job has left its slot."""
        self._endings.append(seconds if seconds < self.short else None)

    def misjudged(self, jobs: int) -> None:
        """So many were claimed ahead and no slot became free for them: what runs is longer than was thought."""
        self._endings.extend([None] * jobs)

    def ending_soon(self, young: int) -> int:
        """How many of so many jobs that have run for less than `short` will have ended when the next turn is answered.

        As many of them are short as were of late. Of those, all end within a turn that takes longer than they do; otherwise
        the part of them that a turn is of their time, because they were not begun together.
        """
        if not young or len(self._endings) < _ENOUGH_ENDINGS:
            return 0
        took = [seconds for seconds in self._endings if seconds is not None]
        if not took:
            return 0
        in_a_turn = min(1.0, self.turn * len(took) / (sum(took) or self.turn))
        return round(young * in_a_turn * len(took) / len(self._endings))

    @property
    def patience(self) -> float:
        """Seconds between two looks at what was claimed ahead. Who is still without a slot after a few of them goes back."""
        return max(_LEAST_PATIENCE, _PATIENT_TURNS * self.turn)

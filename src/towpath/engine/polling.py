"""How often a job at a provider is looked at, and for how long."""

from __future__ import annotations

from dataclasses import dataclass

from towpath.config import Settings

_SHORTEST = 1.0
_OF_AGE = 0.1


@dataclass(frozen=True, slots=True)
class Polling:
    """`longest` seconds between two looks; the first comes after `shortest`."""

    longest: float = 120.0
    timeout: float = 26 * 3600.0
    shortest: float = _SHORTEST

    def interval(self, age: float) -> float:
        """A tenth of how long it has been under way: who waited a minute is told within seconds, a day within minutes."""
        return min(self.longest, max(self.shortest, age * _OF_AGE))


def polling_of(settings: Settings) -> Polling:
    longest = settings.poll_interval_seconds
    return Polling(longest, settings.task_timeout_hours * 3600, min(_SHORTEST, longest))

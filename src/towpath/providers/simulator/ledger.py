"""What a provider would send a bill for."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Paid:
    """One submission that the provider has accepted."""

    key: str
    """Whatever the submission was named or tagged with; what it consists of, where it bears no name."""
    external_id: str
    units: int
    """Inputs or requests."""


class Ledger:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paid: list[Paid] = []

    def pay(self, key: str, external_id: str, units: int) -> None:
        with self._lock:
            self._paid.append(Paid(key, external_id, units))

    @property
    def paid(self) -> list[Paid]:
        with self._lock:
            return list(self._paid)

    @property
    def twice(self) -> dict[str, int]:
        """Keys that were paid for more than once, and how often."""
        return {key: times for key, times in Counter(entry.key for entry in self.paid).items() if times > 1}

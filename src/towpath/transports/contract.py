"""What a doorbell must do. `tests/contracts/test_transports.py` runs one suite over every implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol


class Transport(Protocol):
    """Carries topics between processes: a queue's name, or `worker:ID` when a job of that worker was cancelled.

    Delivery is best effort in any order, any number of times. `*` means: something may have changed, look everywhere.
    """

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def ring(self, topics: Iterable[str]) -> None:
        """Tells every listener of every process, soon. Never blocks and never fails the caller."""
        ...

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        """Calls `heard(topic)` in the event loop for every bell; returns how to stop."""
        ...

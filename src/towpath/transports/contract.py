"""What a doorbell must do. `tests/contracts/test_transports.py` runs one suite over every implementation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Protocol


class Found(Enum):
    """What a look at the queues came to."""

    LITTLE = "little"
    """Less than there was room for: nothing is left."""
    PLENTY = "plenty"
    """As much as there was room for, or there was no room: more may be there, for others."""
    UNKNOWN = "unknown"
    """The database could not be asked."""


class Look(Protocol):
    """One look at the queues. It answers the bells that had rung when it was begun, and no later ones."""

    def over(self, found: Found) -> None: ...


class Attendance(Protocol):
    """Somebody who looks when it rings for certain queues, and says what came of it."""

    def look(self) -> Look:
        """Is called before the database is asked."""
        ...

    async def stop(self) -> None:
        """What rang and was not answered rings for others. Twice is as good as once."""
        ...


class Transport(Protocol):
    """Carries bells between processes: hints that it is time to look into the database, which alone is the truth.

    Delivery is best effort, in any order, any number of times. A bell names a queue and no job: who gets which job is
    decided by the claim, in fair order, whatever way the bell came.
    """

    name: str
    """As it may be shown: without credentials."""

    async def open(self) -> None:
        """Does not wait for a broker, and does not fail for want of one."""
        ...

    async def close(self) -> None: ...

    def ring(self, topics: Iterable[str]) -> None:
        """Tells, soon, one of those who attend to each queue, and everyone who listens to any other topic. Never blocks and
        never fails the caller. Inside this process everybody hears it at once."""
        ...

    def arrived(self, topics: Iterable[str]) -> None:
        """Bells that came to this process from outside, by a push: like `ring`, but they do not go back out that way."""
        ...

    def listen(self, heard: Callable[[str], None], topics: Iterable[str] | None = None) -> Callable[[], None]:
        """Calls `heard(topic)` in the event loop for every bell for everyone, and for `*`; returns how to stop. Bells for
        queues are heard as far as they were rung in this process. `topics` are those that are wanted, None is all."""
        ...

    def attend(self, queues: Iterable[str], heard: Callable[[str], None]) -> Attendance:
        """Calls `heard(queue)` when there may be something in a queue, as long as looks find little."""
        ...

    @property
    def away(self) -> str | None:
        """Why bells do not travel just now; None if nothing is known against it."""
        ...

    async def check(self) -> str:
        """Asks the broker, now, and says how it is; raises a TowpathError if it does not answer or refuses."""
        ...

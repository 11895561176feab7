"""How a remote worker hears of tasks and tells how they go: over HTTPS, or through queues. One contract for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from towpath.fleet.messages import HandedTask, StatusReport, WorkerReport


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known after a report: whether to stop, and fresh URLs if there are any."""

    stop: bool = False
    get_url: str | None = None
    put_url: str | None = None
    urls_until: float | None = None


class Channel(Protocol):
    """What cannot be reached is Transient. A token that was revoked is Fatal."""

    async def claim(self, worker: WorkerReport, wait_seconds: float) -> HandedTask | None: ...

    async def acknowledged(self, task: HandedTask) -> None:
        """The task has been taken up: nobody else need have it."""
        ...

    async def report(self, report: StatusReport) -> Answer: ...

    async def look(self, task: HandedTask) -> Answer:
        """With each heartbeat, where reports themselves are not answered."""
        ...

    async def greet(self, worker: WorkerReport) -> None: ...

    async def aclose(self) -> None: ...

"""What a system offers in order to be measured."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol

Payload = dict[str, Any]
DatabaseKind = Literal["postgres", "sqlite"]
EventLoop = Literal["asyncio", "uvloop"]

# Called once per job when its handler starts, with the payload as the system hands it over: a dict or JSON text.
Sink = Callable[[Any], None]


class Producer(Protocol):
    async def one(self, payload: Payload) -> None:
        """Return when the job is durable."""
        ...

    async def many(self, payloads: Sequence[Payload]) -> None:
        """The same for many jobs, by the fastest way the system recommends."""
        ...


class Installable(Protocol):
    """Something with tables of its own. Instances travel to child processes, so they hold settings only."""

    @property
    def name(self) -> str: ...

    @property
    def event_loop(self) -> EventLoop:
        """The loop that the system's own command line runs on."""
        ...

    async def install(self, url: str) -> None: ...


class Contender(Installable, Protocol):
    """One way of running jobs on one database."""

    @property
    def unfinished(self) -> str:
        """SQL that answers whether any job is not durably finished yet."""
        ...

    def pace(self, batch: int) -> int:
        """Roughly how many jobs it drains in a second: sizes the backlog, never enters a result."""
        ...

    def producer(self, url: str) -> AbstractAsyncContextManager[Producer]: ...

    async def work(self, url: str, batch: int, sink: Sink) -> None:
        """Run jobs with up to `batch` of them at a time until cancelled."""
        ...

"""A remote worker's life: so many slots, each asking for a task, working on it, and asking again."""

from __future__ import annotations

import asyncio
import logging
import math
import platform
from contextlib import suppress
from pathlib import Path

import httpx

from towpath import ConfigurationError, Fatal, SchemaInvalid, Transient, __version__
from towpath.fleet.messages import HandedTask, WorkerReport
from towpath.fleet.node import transcribing
from towpath.fleet.node.attempt import Attempt
from towpath.fleet.node.channel import Channel
from towpath.fleet.node.operations import names

log = logging.getLogger("towpath.fleet.worker")
_ASKED = 20.0
_AWAY = 5.0
_GREETED_EVERY = 30.0
USUAL = transcribing.transcribe_file
"""What every worker can do; it is registered when its module is imported."""


class Node:
    """`worker_id` is what it calls itself; over HTTPS its token says who it is. It beats as often as its tasks say, or more
    often than that if it is told to."""

    def __init__(
        self, channel: Channel, worker_id: str, *, name: str = "", slots: int = 1, folder: Path | None = None,
        drain_seconds: float = 20.0, asks_for: float = _ASKED, heartbeat_seconds: float = math.inf,
        transport: httpx.AsyncBaseTransport | None = None,
    ):  # fmt: skip
        self._channel, self._id, self._name, self._slots = channel, worker_id, name or worker_id, slots
        self._folder, self._drain, self._asks_for = folder, drain_seconds, asks_for
        self._transport, self._heartbeat = transport, heartbeat_seconds
        self._running: set[Attempt] = set()
        self._stopping = asyncio.Event()
        self._now = asyncio.Event()

    @property
    def busy(self) -> int:
        return len(self._running)

    def stop(self) -> None:
        """What runs may end; a second time, it is handed back at once."""
        if self._stopping.is_set():
            self._now.set()
        self._stopping.set()

    async def run(self) -> None:
        async with httpx.AsyncClient(timeout=httpx.Timeout(60.0, connect=10.0), transport=self._transport) as client:
            slots = [asyncio.create_task(self._slot(client)) for _ in range(self._slots)]
            greeting = asyncio.create_task(self._greet())
            stopping = asyncio.create_task(self._wind_down())
            try:
                done, _ = await asyncio.wait(slots, return_when=asyncio.FIRST_EXCEPTION)
                for one in done:
                    one.result()
                await asyncio.gather(*slots)
            finally:
                for one in (*slots, greeting, stopping):
                    one.cancel()
                await asyncio.gather(*slots, greeting, stopping, return_exceptions=True)
                await self._channel.aclose()

    async def _wind_down(self) -> None:
        await self._stopping.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._drain):
                await self._now.wait()
        for one in list(self._running):
            one.hand_back()

    async def _slot(self, client: httpx.AsyncClient) -> None:
        while not self._stopping.is_set():
            try:
                task = await self._asked()
            except Transient as error:
                log.warning("no task could be asked for, and it is tried again: %s", error)
                await self._rest(_AWAY)
                continue
            except (Fatal, SchemaInvalid) as error:
                raise ConfigurationError(str(error)) from None
            if task is None:
                continue
            attempt = Attempt(self._channel, task, self._id, client, self._folder, self._heartbeat)
            self._running.add(attempt)
            try:
                said = await attempt.run()
                log.info("task %s, attempt %d: %s", task.task, task.attempt, said or "left")
            except Exception:
                log.exception("task %s was left", task.task)
            finally:
                self._running.discard(attempt)

    async def _asked(self) -> HandedTask | None:
        asking = asyncio.create_task(self._channel.claim(self._told(), self._asks_for))
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({asking, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return asking.result() if asking.done() else None
        finally:
            stopping.cancel()
            asking.cancel()
            await asyncio.gather(asking, stopping, return_exceptions=True)

    async def _rest(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    async def _greet(self) -> None:
        while True:
            with suppress(Transient):
                await self._channel.greet(self._told())
            await asyncio.sleep(_GREETED_EVERY)

    def _told(self) -> WorkerReport:
        return WorkerReport(
            worker_id=self._id, name=self._name, host=platform.node()[:200], version=__version__, slots=self._slots,
            busy=self.busy, operations=names(),
        )  # fmt: skip

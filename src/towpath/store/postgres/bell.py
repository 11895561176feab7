"""The doorbell on LISTEN/NOTIFY, coalesced.

A notification inside every enqueue costs two thirds of the throughput, so bells are sent after the commit: the first at
once, then at most one per topic in ten milliseconds, and the last one is never left out.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable
from typing import Any

from towpath.core.listeners import Listeners
from towpath.core.topics import EVERYWHERE
from towpath.store.postgres.connecting import connect
from towpath.store.sql import Queries

CHANNEL = "towpath"
_QUIET = 0.01
log = logging.getLogger("towpath.bell")


class PostgresBell:
    def __init__(self, url: str, queries: Queries) -> None:
        self._url = url
        self._ring = queries["ring"].text
        self.listeners = Listeners()
        self._due: set[str] = set()
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._connection: Any = None

    async def open(self) -> None:
        """Twice is as good as once."""
        await self.close()
        self._task = asyncio.create_task(self._run(), name="towpath-bell")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    def ring(self, topics: Iterable[str]) -> None:
        """Inside this process at once, to the others as soon as the line is free."""
        for topic in topics:
            self.listeners.tell(topic)
            self._due.add(topic)
        if self._due:
            self._wanted.set()

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        return self.listeners.add(heard)

    async def _run(self) -> None:
        """Keeps one connection that both listens and sends, and makes a new one when it breaks."""
        while True:
            try:
                await self._serve()
            except Exception as error:  # whatever it was: without a bell, every job waits for the next poll
                log.warning("the bell's connection broke, workers poll until it is back: %s", error)
                await asyncio.sleep(0.5)

    def _break(self, broken: asyncio.Event) -> None:
        broken.set()
        self._wanted.set()

    async def _serve(self) -> None:
        connection = await connect(self._url)
        try:
            pid = connection.get_server_pid()

            def heard(_: Any, sender: int, __: str, topic: object) -> None:
                if sender != pid:
                    self.listeners.tell(str(topic))

            await connection.add_listener(CHANNEL, heard)
            broken = asyncio.Event()
            connection.add_termination_listener(lambda _: self._break(broken))
            self.listeners.tell(EVERYWHERE)  # whatever rang while nobody listened
            while True:
                await self._wanted.wait()
                if broken.is_set():
                    raise ConnectionResetError("the server closed the connection")
                self._wanted.clear()
                topics, self._due = sorted(self._due), set()
                await connection.execute(self._ring, CHANNEL, topics)
                await asyncio.sleep(_QUIET)
        finally:
            with contextlib.suppress(Exception):
                connection.terminate()

"""A small worker inside the server, which does nothing but hand finished uploads over.

Any worker that serves the queue does that. But the slots of workers may be taken by hours of audio, and whoever has sent a
file is to see at once what became of it, and where it stands in the line. It begins with the first upload that is finished
while the server runs, or if one was left from before: a server that is sent no files is no worker.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
from collections.abc import Callable
from contextlib import suppress

from towpath.assets import uploads
from towpath.engine.app import App

log = logging.getLogger("towpath.server")

_CONCURRENCY = 4
_SECONDS_TO_END = 5.0


class UploadWorker:
    def __init__(self, app: App) -> None:
        self._app = app
        self._stop = asyncio.Event()
        self._working: asyncio.Task[None] | None = None
        self._silence: Callable[[], None] | None = None

    async def start(self) -> None:
        self._silence = self._app.services.transport.listen(self._heard, [uploads.QUEUE])
        if await uploads.unfinished(self._app):
            self._begin()

    def _heard(self, topic: str) -> None:
        if topic == uploads.QUEUE:
            self._begin()

    def _begin(self) -> None:
        if self._working is None and not self._stop.is_set():
            self._working = asyncio.create_task(self._work(), name="towpath-upload-worker")

    async def _work(self) -> None:
        try:
            name = f"uploads-{platform.node() or 'server'}-{os.getpid()}"
            await self._app.run_worker([uploads.QUEUE], _CONCURRENCY, name=name, stop=self._stop)
        except Exception:
            log.exception("the server's worker for uploads ended; another one begins with the next upload")
            self._working = None

    async def stop(self) -> None:
        """What is not done within moments goes back to the queue, for another worker. Twice is as good as once."""
        self._stop.set()
        silence, self._silence = self._silence, None
        if silence is not None:
            silence()
        task, self._working = self._working, None
        if task is None:
            return
        await asyncio.wait({task}, timeout=_SECONDS_TO_END)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

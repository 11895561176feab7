"""The HTTP answer that does not end: sends what the stream has, and ends when the client, the hub or a judge says so."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from towpath.core.errors import StoreUnavailable
from towpath.push.ending import Ending
from towpath.push.hub import Hub
from towpath.push.judging import StillAllowed, Watched
from towpath.push.stream import Stream
from towpath.push.wanted import Wanted

log = logging.getLogger("towpath.push")

_HEADERS = {
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",  # nginx and those who follow it
}


class EventStream(Response):
    """`still_allowed` is asked every now and then; a stream whose account, session or token has gone ends."""

    media_type = "text/event-stream"

    def __init__(
        self, hub: Hub, wanted: Wanted, token: str | None, account: str, still_allowed: StillAllowed, credential: str = ""
    ) -> None:
        super().__init__(headers=_HEADERS)
        del self.headers["content-length"]
        self._hub = hub
        self._wanted = wanted
        self._token = token
        self._account = account
        self._still_allowed = still_allowed
        self._credential = credential

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ending = self._hub.enter(self._account)
        watched = self._hub.judge.watch(ending, self._credential, self._still_allowed)
        try:
            stream = await Stream.open(self._hub, self._wanted, self._token, ending)
            try:
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                await self._serve(stream, watched, receive, send)
            finally:
                stream.close()
        finally:
            self._hub.judge.forget(watched)
            self._hub.exit(ending)

    async def _serve(self, stream: Stream, watched: Watched, receive: Receive, send: Send) -> None:
        ending = watched.ending
        sending = asyncio.create_task(_send_all(stream, send))
        others = [asyncio.create_task(_until_gone(receive, ending)), asyncio.create_task(self._judge(watched))]
        over = asyncio.create_task(ending.wait())
        try:
            await asyncio.wait({sending, over}, return_when=asyncio.FIRST_COMPLETED)
            if ending.reason != "gone":
                await asyncio.wait({sending}, timeout=self._hub.limits.farewell)
                await self._take_leave(sending, send)
        finally:
            for task in (sending, over, *others):
                task.cancel()
            await asyncio.wait({sending, over, *others})
            _report(sending)

    async def _take_leave(self, sending: asyncio.Task[None], send: Send) -> None:
        """Ends the answer properly, unless the client has stopped reading: it would never take its last words."""
        if sending.done():
            with suppress(TimeoutError, OSError):
                async with asyncio.timeout(self._hub.limits.farewell):
                    await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _judge(self, watched: Watched) -> None:
        """Whatever a glance does not show, such as a change that left as much as there was."""
        while not watched.ending.called():
            await asyncio.sleep(self._hub.limits.recheck)
            await watched.judge()


async def _send_all(stream: Stream, send: Send) -> None:
    async for chunk in stream.chunks():
        if chunk:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _until_gone(receive: Receive, ending: Ending) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    ending.call("gone")


def _report(sending: asyncio.Task[None]) -> None:
    """The client has its last id and comes back, so whatever went wrong here costs it a second."""
    error = None if sending.cancelled() else sending.exception()
    if isinstance(error, StoreUnavailable | OSError):
        log.warning("a stream was ended, because its events could not be read or sent: %s", error)
    elif error is not None:
        log.error("a stream was ended by an error nobody expected", exc_info=error)

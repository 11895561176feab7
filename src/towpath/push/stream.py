"""One client's stream: first what it has missed, read by itself, then what happens, handed out by the hub."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Self

from towpath.core.errors import StreamReset
from towpath.engine.asking.deltas import Deltas, Place
from towpath.engine.projections import RESET
from towpath.push import frames
from towpath.push.composing import Composer
from towpath.push.ending import Ending
from towpath.push.hub import Hub
from towpath.push.seats import Seat
from towpath.push.wanted import Wanted


class Stream:
    """Ids are sent in the order of the stream, each only after everything before it: a client may stop anywhere."""

    def __init__(self, hub: Hub, deltas: Deltas, composer: Composer, wanted: Wanted, ending: Ending) -> None:
        self._hub = hub
        self._deltas = deltas
        self._composer = composer
        self._wanted = wanted
        self._ending = ending
        self._seat: Seat | None = None
        self._place: Place | None = None
        self._unfit: str | None = None

    @classmethod
    async def open(cls, hub: Hub, wanted: Wanted, token: str | None, ending: Ending) -> Self:
        """Whatever is committed after this has returned will be in the stream."""
        stream = cls(hub, await hub.deltas(), await hub.composer(), wanted, ending)
        if token:
            try:
                stream._place = await stream._deltas.place(token, within=hub.limits.tokens)
            except StreamReset as error:
                stream._unfit = error.reason
        if stream._place is None:
            stream._seat = await hub.join(wanted, ending)
        return stream

    def close(self) -> None:
        if self._seat is not None:
            self._hub.leave(self._seat)
            self._seat = None

    async def chunks(self) -> AsyncIterator[bytes]:
        """Everything to be sent, until the stream has to end."""
        yield frames.retry(self._hub.limits.retry)
        if self._place is not None:
            async for chunk in self._missed():
                yield chunk
            self._seat = await self._hub.join(self._wanted, self._ending)
            async for chunk in self._missed(self._seat.start):
                yield chunk
        seat = self._seat
        if seat is None or self._ending.called():
            return
        here = self._deltas.token(seat.start)
        yield frames.event(RESET, here, json.dumps({"reason": self._unfit})) if self._unfit else frames.place(here)
        while True:
            data = await seat.mailbox.take(self._hub.limits.heartbeat)
            if self._ending.called():
                return
            yield data or self._heartbeat()

    def _heartbeat(self) -> bytes:
        """Moves the client's id along, so that one who waits for rare events need not read all others when it returns."""
        place = self._hub.place_at_rest
        return frames.heartbeat(None if place is None else self._deltas.token(place))

    async def _missed(self, until: Place | None = None) -> AsyncIterator[bytes]:
        """From the client's place on. The long way is read before joining, when nothing has to be kept for later; what
        is left from there to the hub's place is short."""
        assert self._place is not None
        more = True
        while more and not self._ending.called():
            async with self._hub.reading:
                page = await self._deltas.page(
                    self._place, until=until, limit=self._hub.limits.page, only=self._wanted.job_id
                )
                batches = [batch async for batch in self._composer.compose(page, self._wanted.takes)]
            for batch in batches:
                yield b"".join(message.data for message in batch.messages)
            self._place, more = page.end, page.more
            # A place inside a delta names a job, which may be somebody else's.
            yield frames.heartbeat(self._deltas.token(self._place) if self._place.upto is None else None)

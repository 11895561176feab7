"""SQS as doorbell: a standard queue for each queue of jobs. It cannot tell everybody, so the database does that."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager

from towpath.brokers.contract import Message
from towpath.brokers.holding import held
from towpath.brokers.sqs import SqsQueue
from towpath.core.errors import ConfigurationError, Fatal, Transient
from towpath.core.masking import masked
from towpath.transports.attending import Attending
from towpath.transports.beside import BesideDatabase
from towpath.transports.contract import Transport
from towpath.transports.heard import Heard, only
from towpath.transports.places import parts_of, plain_name, prefix_from

VISIBILITY_SECONDS = 30
LATER_SECONDS = 2
_ATTRIBUTES = {"VisibilityTimeout": str(VISIBILITY_SECONDS), "MessageRetentionPeriod": "600"}
_QUIET = 0.2
"""Each request is paid for."""


class SqsTransport(BesideDatabase):
    """Queues are made when they are first needed; where that is not allowed, somebody has to have made them."""

    def __init__(self, url: str, installation: str, rest: float, database: Transport) -> None:
        region, prefix, _ = parts_of(url)
        if not url.startswith("sqs://") or "/" in prefix:
            raise ConfigurationError(f"TOWPATH_TRANSPORT={masked(url)} is none for SQS; it looks like sqs://REGION/PREFIX")
        self._prefix, self._region = prefix_from(url, prefix, installation), region or None
        super().__init__(f"SQS, queues {self._prefix}-…", database, _QUIET)
        self._rest = rest
        self._queues: dict[str, SqsQueue] = {}

    async def send(self, queues: set[str]) -> None:
        await asyncio.gather(*(self.ring_at(queue, 1) for queue in queues))

    arrived = BesideDatabase.ring

    def attend(self, queues: Iterable[str], heard: Heard) -> Attending:
        lines = {queue: SqsLine(queue, self) for queue in queues}
        wanted = only(lines, heard)
        stops = [self._listeners.add(wanted), self._database.listen(wanted)]  # a job may come by SQL, and its bell that way

        def stop() -> None:
            for one in stops:
                one()

        return Attending(lines, heard, self._outage, self._rest, stop)

    async def check(self) -> str:
        name = plain_name(self._prefix, "default")
        try:
            queue = await SqsQueue.named(name, region=self._region)
        except Fatal as error:
            if "NonExistent" in str(error) or "DoesNotExist" in str(error):
                return f"it answers; there is no queue {name} yet, which is made with the first bell"
            raise
        queue.close()
        return f"it answers, and has {name}"

    async def close(self) -> None:
        await super().close()
        queues, self._queues = self._queues, {}
        for queue in queues.values():
            queue.close()

    async def queue(self, queue: str) -> SqsQueue:
        if queue not in self._queues:
            self._queues[queue] = await self._find_or_make(plain_name(self._prefix, queue))
        return self._queues[queue]

    async def _find_or_make(self, name: str) -> SqsQueue:
        try:
            return await SqsQueue.named(name, region=self._region)
        except Fatal:
            return await SqsQueue.create(name, _ATTRIBUTES, region=self._region)

    async def ring_at(self, queue: str, times: int) -> None:
        try:
            unsent = await (await self.queue(queue)).send([queue] * times)
        except Fatal:
            self.forget(queue)
            raise
        if unsent:
            raise Transient(f"SQS did not take a bell: {unsent[0].reason}")

    def forget(self, queue: str) -> None:
        """It may have been deleted: next time it is found or made anew."""
        if (known := self._queues.pop(queue, None)) is not None:
            known.close()


class SqsLine:
    def __init__(self, queue: str, transport: SqsTransport) -> None:
        self._queue, self._transport = queue, transport

    async def receive(self) -> SqsHanded:
        """By long polls, one after the other."""
        queue = await self._transport.queue(self._queue)
        while True:
            try:
                messages = await queue.receive(visibility_seconds=VISIBILITY_SECONDS)
            except Fatal:
                self._transport.forget(self._queue)
                raise
            if messages:
                return SqsHanded(messages, queue)

    async def ring(self, times: int) -> None:
        await self._transport.ring_at(self._queue, times)

    async def close(self) -> None:
        return None


class SqsHanded:
    """Whatever came with one poll: a look answers all of them."""

    def __init__(self, messages: Sequence[Message], queue: SqsQueue) -> None:
        self._messages, self._queue = messages, queue

    def kept(self) -> AbstractAsyncContextManager[object]:
        return held(self._queue, self._messages, VISIBILITY_SECONDS)

    async def answered(self) -> None:
        await self._queue.delete(self._messages)

    async def again(self, *, later: bool) -> None:
        await self._queue.extend(self._messages, LATER_SECONDS if later else 0)

"""What is at the broker, and the bells of one queue as somebody sees them who attends to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from towpath.core.topics import EVENTS, EVERYWHERE
from towpath.transports.places import plain_name

if TYPE_CHECKING:
    from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractExchange, AbstractIncomingMessage, AbstractQueue

MOST_BELLS = 64
"""Bells of one queue that wait for somebody to attend; another one takes the place of the first."""
LATER_SECONDS = 2.0
_SENDING = 10.0


class Places:
    """Exchanges and queues by name. Declaring one twice is as good as once.

    `bells` hands each message to the quorum queue of its queue of jobs. `later` keeps messages for a while, without anybody
    who waits for them, and then they go to `bells`. `everyone` hands each to all who want its topic.
    """

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.bells, self.later, self.everyone = f"{prefix}.bells", f"{prefix}.later", f"{prefix}.everyone"

    async def declare(self, channel: AbstractChannel) -> None:
        await channel.declare_exchange(self.bells, "direct", durable=True)
        await channel.declare_exchange(self.everyone, "topic", durable=True)
        later = await channel.declare_exchange(self.later, "fanout", durable=True)
        arguments = {
            "x-queue-type": "quorum", "x-message-ttl": int(LATER_SECONDS * 1000), "x-dead-letter-exchange": self.bells,
            "x-max-length": 1000 * MOST_BELLS, "x-overflow": "drop-head",
        }  # fmt: skip
        queue = await channel.declare_queue(self.later, durable=True, arguments=arguments)  # type: ignore[arg-type]  # AMQP's own table
        await queue.bind(later)

    async def declare_queue(self, channel: AbstractChannel, queue: str) -> AbstractQueue:
        arguments = {"x-queue-type": "quorum", "x-max-length": MOST_BELLS, "x-overflow": "drop-head"}
        name = plain_name(self._prefix, queue)
        declared = await channel.declare_queue(name, durable=True, arguments=arguments)  # type: ignore[arg-type]  # same
        await declared.bind(self.bells, routing_key=queue)
        return declared


def routing_key(topic: str) -> str:
    """In bindings `*` and `#` are wildcards."""
    return {EVENTS: "events", EVERYWHERE: "everywhere"}.get(topic) or topic.lstrip("!").replace(":", ".")


async def send(exchange: AbstractExchange, key: str, topic: str, sender: str, *, kept: bool) -> None:
    """Returns when the broker has confirmed it."""
    from aio_pika import DeliveryMode, Message

    mode = DeliveryMode.PERSISTENT if kept else DeliveryMode.NOT_PERSISTENT
    await exchange.publish(
        Message(topic.encode(), delivery_mode=mode, app_id=sender), routing_key=key, mandatory=False, timeout=_SENDING
    )


class RabbitLine:
    """Takes one bell at a time. The channel is its own, so what it holds goes back when it closes."""

    def __init__(self, queue: str, places: Places, connected: Callable[[], Awaitable[AbstractConnection]]) -> None:
        self._queue, self._places, self._connected = queue, places, connected
        self._channel: AbstractChannel | None = None
        self._inbox: asyncio.Queue[AbstractIncomingMessage | BaseException] = asyncio.Queue()

    async def receive(self) -> RabbitHanded:
        if self._channel is None:
            self._channel = await self._open()
        handed = await self._inbox.get()
        if isinstance(handed, BaseException):
            self._channel = None
            raise handed
        return RabbitHanded(handed, self)

    async def _open(self) -> AbstractChannel:
        channel = await (await self._connected()).channel(publisher_confirms=True)
        inbox = self._inbox = asyncio.Queue()

        def closed(_: Any, error: BaseException | None) -> None:
            inbox.put_nowait(error if isinstance(error, Exception) else ConnectionResetError("the channel was closed"))

        await channel.set_qos(prefetch_count=1)
        queue = await self._places.declare_queue(channel, self._queue)
        channel.close_callbacks.add(closed)
        await queue.consume(inbox.put)
        return channel

    async def ring(self, times: int) -> None:
        for _ in range(times):
            await self.publish(self._places.bells)

    async def publish(self, exchange: str) -> None:
        if self._channel is None:
            raise ConnectionResetError("the channel was closed")
        await send(await self._channel.get_exchange(exchange, ensure=False), self._queue, self._queue, "", kept=True)

    async def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None and not channel.is_closed:
            await channel.close()

    async def publish_later(self) -> None:
        await self.publish(self._places.later)


class RabbitHanded:
    """A bell that is not acknowledged yet: the broker hands it to somebody else if our channel closes."""

    def __init__(self, message: AbstractIncomingMessage, line: RabbitLine) -> None:
        self._message, self._line = message, line

    def kept(self) -> AbstractAsyncContextManager[object]:
        return nullcontext()

    async def answered(self) -> None:
        await self._message.ack()

    async def again(self, *, later: bool) -> None:
        if not later:
            await self._message.nack(requeue=True)
            return
        await self._line.publish_later()
        await self._message.ack()

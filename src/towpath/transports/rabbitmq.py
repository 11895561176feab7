"""RabbitMQ as doorbell: a quorum queue for each queue of jobs, and an exchange for what everybody has to hear."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from towpath.core.errors import ConfigurationError, Transient
from towpath.core.ids import uuid7
from towpath.core.listeners import Listeners
from towpath.core.masking import masked
from towpath.core.outage import Outage
from towpath.core.topics import EVERYWHERE, for_everyone
from towpath.transports.attending import Attending
from towpath.transports.heard import Heard, only
from towpath.transports.places import parts_of, prefix_from
from towpath.transports.rabbitmq_bells import Places, RabbitLine, routing_key, send

if TYPE_CHECKING:
    from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage, AbstractQueue

log = logging.getLogger("towpath.bell")

_QUIET = 0.01
_CONNECTING = 10.0
_FIRST_REST, _LONGEST_REST = 0.5, 15.0
_ALL = "#"


class RabbitTransport:
    """Connects when the first bell rings or somebody listens, and again whenever the connection breaks. What rings meanwhile
    is sent then; each queue rings at most once in ten milliseconds."""

    def __init__(self, url: str, installation: str, rest: float) -> None:
        try:
            import aio_pika  # noqa: F401  (only to find out whether it is there)
        except ImportError:
            raise ConfigurationError("RabbitMQ needs aio-pika: pip install 'towpath[rabbitmq]'") from None
        host, _, parameters = parts_of(url)
        if not host:
            raise ConfigurationError(
                f"TOWPATH_TRANSPORT={masked(url)} names no host; it looks like amqp://user:password@host/vhost"
            )
        self._url, self._rest = _without_prefix(url), rest
        self._places = Places(prefix_from(url, parameters.get("prefix", ""), installation))
        self.name = f"RabbitMQ at {masked(self._url)}"
        self._me = uuid7()
        self._listeners = Listeners()
        self._outage = Outage(self.name, log, "and workers look for themselves until it does")
        self._due: set[str] = set()
        self._sending = False
        self._wanted = asyncio.Event()
        self._topics: list[frozenset[str]] = []
        self._bound: set[str] = set()
        self._declared: set[str] = set()
        self._connected: asyncio.Future[AbstractConnection] | None = None
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self._connected = asyncio.get_running_loop().create_future()

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            await self._flush()
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self._connected = None

    @property
    def away(self) -> str | None:
        return self._outage.reason

    def ring(self, topics: Iterable[str]) -> None:
        for topic in topics:
            self._listeners.tell(topic)
            self._due.add(topic)
        if self._due:
            self._begin()

    arrived = ring

    def listen(self, heard: Heard, topics: Iterable[str] | None = None) -> Callable[[], None]:
        stop = self._listeners.add(only(topics, heard))
        wanted = frozenset([_ALL] if topics is None else [routing_key(one) for one in topics if for_everyone(one)])
        self._topics.append(wanted)
        self._begin()

        def silence() -> None:
            stop()
            with contextlib.suppress(ValueError):  # twice is as good as once
                self._topics.remove(wanted)

        return silence

    def attend(self, queues: Iterable[str], heard: Heard) -> Attending:
        self._begin()
        lines = {queue: RabbitLine(queue, self._places, self._connection) for queue in queues}
        return Attending(lines, heard, self._outage, self._rest, self._listeners.add(only(lines, heard)))

    async def check(self) -> str:
        connection = await self._connect()
        try:
            channel = await connection.channel()
            await self._places.declare(channel)
        except Exception as error:
            raise Transient(f"{self.name} refuses what it is asked: {error}") from None
        finally:
            await connection.close()
        return "it answers, and takes bells"

    def _begin(self) -> None:
        self._wanted.set()
        if self._task is None and self._connected is not None:
            self._task = asyncio.create_task(self._run(), name="towpath-bell")

    async def _connection(self) -> AbstractConnection:
        assert self._connected is not None
        return await asyncio.shield(self._connected)

    async def _connect(self) -> AbstractConnection:
        import aio_pika

        try:
            async with asyncio.timeout(_CONNECTING):
                return await aio_pika.connect(self._url, client_properties={"connection_name": "towpath"})
        except Exception as error:
            raise Transient(f"{self.name} could not be reached: {type(error).__name__}: {masked(str(error))}") from None

    async def _run(self) -> None:
        rest = _FIRST_REST
        while True:
            try:
                await self._serve()
            except Exception as error:  # whatever it is: without a broker, every job waits for the next poll
                if self._connected is None or self._connected.done():
                    self._connected, rest = asyncio.get_running_loop().create_future(), _FIRST_REST
                self._outage.seen(error)
                await asyncio.sleep(rest * random.uniform(0.5, 1.0))
                rest = min(2 * rest, _LONGEST_REST)

    async def _serve(self) -> None:
        connection = await self._connect()
        try:
            channel = await connection.channel(publisher_confirms=True)
            await self._places.declare(channel)
            ears = await self._listen(channel)
            self._declared.clear()
            broken = asyncio.Event()

            def closed(*_: Any) -> None:
                broken.set()
                self._wanted.set()

            channel.close_callbacks.add(closed)
            assert self._connected is not None
            self._connected.set_result(connection)
            self._outage.over()
            self._listeners.tell(EVERYWHERE)  # whatever rang while nobody listened
            while True:
                await self._wanted.wait()
                self._wanted.clear()
                if broken.is_set():
                    raise ConnectionResetError("it closed the connection")
                await self._bind(ears)
                await self._send(channel)
                await asyncio.sleep(_QUIET)
        finally:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(2):
                    await connection.close()

    async def _listen(self, channel: AbstractChannel) -> AbstractQueue:
        ears = await channel.declare_queue(exclusive=True, auto_delete=True)
        self._bound = {routing_key(EVERYWHERE)}
        await ears.bind(self._places.everyone, routing_key(EVERYWHERE))
        await self._bind(ears)
        await ears.consume(self._told, no_ack=True)
        return ears

    async def _bind(self, ears: AbstractQueue) -> None:
        wanted = frozenset({routing_key(EVERYWHERE)}).union(*self._topics)
        for key in wanted - self._bound:
            await ears.bind(self._places.everyone, key)
        for key in self._bound - wanted:
            await ears.unbind(self._places.everyone, key)
        self._bound = set(wanted)

    async def _told(self, message: AbstractIncomingMessage) -> None:
        if message.app_id != self._me:
            self._listeners.tell(message.body.decode())

    async def _send(self, channel: AbstractChannel) -> None:
        topics, self._due, self._sending = self._due, set(), True
        try:
            for queue in topics - self._declared:
                if not for_everyone(queue):
                    await self._places.declare_queue(channel, queue)
                    self._declared.add(queue)
            bells = await channel.get_exchange(self._places.bells, ensure=False)
            everyone = await channel.get_exchange(self._places.everyone, ensure=False)
            await asyncio.gather(*(
                send(everyone, routing_key(one), one, self._me, kept=False) if for_everyone(one)
                else send(bells, one, one, self._me, kept=True)
                for one in topics
            ))  # fmt: skip
        except BaseException:
            self._due |= topics
            raise
        finally:
            self._sending = False

    async def _flush(self) -> None:
        """What rang last is sent, if the broker is there."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                while (self._due or self._sending) and self.away is None:  # noqa: ASYNC110  (it takes milliseconds)
                    await asyncio.sleep(_QUIET)


def _without_prefix(url: str) -> str:
    parts = urlsplit(url)
    kept = "&".join(one for one in parts.query.split("&") if one and not one.startswith("prefix="))
    return urlunsplit(parts._replace(query=kept))

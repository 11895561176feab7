"""One installation on each transport, as several processes of it would see it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.stores import Hands, opened
from tests.http.serving import served
from tests.services.pubsub import ACCOUNT, AUDIENCE, pubsub_service
from towpath import App, Settings
from towpath.server import create_app, running
from towpath.transports import Found, Transport
from towpath.wiring import make_transport

TRANSPORTS = ["sqlite", "postgres", "rabbitmq", "sqs", "pubsub"]
BROKERS = ["rabbitmq", "sqs"]


@dataclass
class Attendant:
    """Somebody who attends to queues in a process of its own, and is told what looks find."""

    transport: Transport
    heard: list[str] = field(default_factory=list)
    attendance: Any = None

    def looks(self, found: Found) -> None:
        self.attendance.look().over(found)


class Installation:
    """`process()` opens the store and the transport as another process would."""

    def __init__(self, url: str, transport: str, stack: AsyncExitStack) -> None:
        self.url, self.settings = url, Settings(transport=transport, poll_seconds=3600.0)
        self._stack = stack
        self._hands: dict[int, Hands] = {}

    async def process(self) -> Transport:
        hands = await self._stack.enter_async_context(opened(self.url))
        transport = make_transport(self.settings, hands.store, "the same")
        await transport.open()
        self._stack.push_async_callback(transport.close)
        hands.store.ring = transport.ring
        self._hands[id(transport)] = hands
        return transport

    @property
    def hands_out(self) -> bool:
        """Whether a bell is handed to one of those who attend, and kept until somebody does."""
        return self.settings.transport.partition(":")[0] in ("amqp", "sqs")

    async def ring(self, transport: Transport, topic: str) -> None:
        transport.ring([topic])
        if self.settings.transport == "database" and self.url.startswith("sqlite:"):
            await self.hands(transport).enqueue(queue="elsewhere")  # between processes, it is commits that ring

    def hands(self, transport: Transport) -> Hands:
        return self._hands[id(transport)]

    async def attendant(self, *queues: str, transport: Transport | None = None) -> Attendant:
        one = Attendant(transport or await self.process())
        one.attendance = one.transport.attend(list(queues), one.heard.append)

        async def stop() -> None:
            with suppress(Exception):
                await one.attendance.stop()

        self._stack.push_async_callback(stop)
        return one

    def app(self, **settings: Any) -> App:
        return App(self.url, settings=Settings(transport=self.settings.transport, **settings))


@dataclass(frozen=True)
class Parts:
    """What an installation stands on: started before there is an event loop, as some fixtures want it."""

    name: str
    url: str
    transport: str


def parts_for(request: pytest.FixtureRequest, name: str) -> Parts:
    if name in ("sqlite", "postgres"):
        return Parts(name, request.getfixturevalue(f"{name}_url"), "database")
    if name == "rabbitmq":
        return Parts(name, request.getfixturevalue("sqlite_url"), request.getfixturevalue("rabbit_url"))
    url: str = request.getfixturevalue("postgres_url")
    if name == "sqs":
        request.getfixturevalue("sqs_env")
        return Parts(name, url, f"sqs:///{url.rsplit('/', 1)[1]}")
    return Parts(name, url, "")


@asynccontextmanager
async def installed(parts: Parts, folder: Path) -> AsyncIterator[Installation]:
    async with AsyncExitStack() as stack:
        if parts.name != "pubsub":
            yield Installation(parts.url, parts.transport, stack)
            return
        service = await stack.enter_async_context(pubsub_service())
        own = Installation(parts.url, f"pubsub://project/bells?endpoint={service.endpoint}", stack)
        settings = Settings(
            transport=own.settings.transport, pubsub_push_account=ACCOUNT, pubsub_push_audience=AUDIENCE,
            pubsub_push_issuer=service.provider.issuer, blobs_url=(folder / "blobs").as_uri(),
        )  # fmt: skip
        api = create_app(App(parts.url, settings=settings))
        await stack.enter_async_context(running(api))
        port = await stack.enter_async_context(served(api))
        service.push_to = f"http://127.0.0.1:{port}/api/push/pubsub"
        yield own

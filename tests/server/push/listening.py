"""A client of the push stream that reads it as browsers do, and may be cut off at any byte."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self

import httpx

from tests.server.push.serving import PATIENCE


@dataclass
class Message:
    event: str
    id: str
    data: dict[str, Any]


@dataclass
class Parser:
    """Server-sent events by the book: fields until a blank line; an id counts even if there is no data."""

    last_id: str | None = None
    retry: int | None = None
    comments: int = 0
    _rest: bytes = b""

    def feed(self, chunk: bytes) -> list[Message]:
        *blocks, self._rest = (self._rest + chunk).split(b"\n\n")
        found = [self._block(block.decode()) for block in blocks]
        return [message for message in found if message is not None]

    def cut(self) -> None:
        """The connection broke: half a block is no block."""
        self._rest = b""

    def _block(self, block: str) -> Message | None:
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, _, value = line.partition(":")
            if name:
                fields[name] = value.removeprefix(" ")
            else:
                self.comments += 1
        if "retry" in fields:
            self.retry = int(fields["retry"])
        self.last_id = fields.get("id", self.last_id)
        if "data" not in fields:
            return None
        assert self.last_id is not None
        return Message(fields["event"], self.last_id, json.loads(fields["data"]))


@dataclass
class Listener:
    """Everything one client has heard, over all its connections."""

    address: str
    token: str = ""
    query: dict[str, Any] = field(default_factory=dict)
    heard: list[Message] = field(default_factory=list)
    parser: Parser = field(default_factory=Parser)
    headers: httpx.Headers = field(default_factory=httpx.Headers)
    connections: int = 0
    cookie: str = ""
    keep_bytes: bool = False
    bytes: bytes = b""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def connected(self, address: str | None = None) -> AsyncIterator[Self]:
        """Listens in the background, from where it left off, until the block is left."""
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        listening = asyncio.create_task(self.listen(address, opened))
        done, _ = await asyncio.wait({listening, opened}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        if listening in done:
            await listening
        assert opened in done, "the stream did not open"
        try:
            yield self
        finally:
            listening.cancel()
            with suppress(asyncio.CancelledError, httpx.TransportError):
                await listening

    async def listen(self, address: str | None = None, opened: "asyncio.Future[None] | None" = None) -> None:
        """One connection, until it ends."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {"Cookie": f"towpath_session={self.cookie}"}
        if self.parser.last_id is not None:
            headers["Last-Event-ID"] = self.parser.last_id
        self.parser.cut()
        url = f"{address or self.address}/api/events"
        timeout = httpx.Timeout(PATIENCE)
        async with httpx.AsyncClient(timeout=timeout) as client, client.stream(
            "GET", url, headers=headers, params=self.query
        ) as response:  # fmt: skip
            if response.status_code != 200:
                await response.aread()
            response.raise_for_status()
            self.headers = response.headers
            self.connections += 1
            if opened is not None and not opened.done():
                opened.set_result(None)
            async for chunk in response.aiter_raw():
                self.heard += self.parser.feed(chunk)
                self.bytes += chunk if self.keep_bytes else b""
                self._news.set()

    async def until(self, condition: Callable[[Self], Any]) -> None:
        """Waits until what it has heard fits."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not condition(self):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"not heard: {[(m.event, _brief(m.data)) for m in self.heard][-20:]}") from None

    def of(self, event: str) -> list[dict[str, Any]]:
        return [message.data for message in self.heard if message.event == event]

    @property
    def events(self) -> list[tuple[str, int]]:
        """(job, seq) of every event, in the order they came."""
        return [(event["job_id"], event["seq"]) for data in self.of("job") for event in data["events"]]

    def names(self, job_id: str) -> list[str]:
        return [event["name"] for data in self.of("job") for event in data["events"] if event["job_id"] == job_id]

    def ended(self, *job_ids: str) -> bool:
        """By their events: a row may be ahead of them."""
        endings = ("job.succeeded", "job.failed", "job.cancelled")
        seen = {event["job_id"] for data in self.of("job") for event in data["events"] if event["name"] in endings}
        return seen.issuperset(job_ids)


def _brief(data: dict[str, Any]) -> str:
    return f"{data['job']['id']} {[event['seq'] for event in data['events']]}" if "job" in data else json.dumps(data)

"""A TCP proxy in front of PostgreSQL that loses answers: the server has done it, the client will never know.

It forwards everything. When a request is chosen, it still forwards the request and waits for the server's whole answer,
up to ReadyForQuery; then it cuts the connection instead of passing the answer on. That is what a commit whose outcome is
unknown looks like from outside.
"""

import asyncio
import contextlib
import random
import re
from collections.abc import Callable
from typing import Self
from urllib.parse import urlsplit, urlunsplit

# A simple query, or the Sync that ends an extended one; a new connection's greeting has neither.
_STATEMENT = re.compile(rb"\AQ\x00|S\x00\x00\x00\x04\Z")
_READY = re.compile(rb"Z\x00\x00\x00\x05[ITE]\Z")
Choice = Callable[[bytes, object], bool]  # the request, and the connection it came on


def _none(_: bytes, __: object) -> bool:
    return False


class Proxy:
    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        self._choice: Choice = _none
        self._tasks: set[asyncio.Task[None]] = set()
        self.lost = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        port = self._server.sockets[0].getsockname()[1]
        return urlunsplit(self._parts._replace(netloc=f"{self._parts.username}@127.0.0.1:{port}"))

    def lose_some(self, dice: random.Random, share: float) -> None:
        """From now on this share of all answers to statements and commits is lost."""
        self._choice = lambda request, _: bool(_STATEMENT.search(request)) and dice.random() < share

    def lose_none(self) -> None:
        self._choice = _none

    def lose_once(self, marker: bytes) -> None:
        """The answer to the next request that contains the marker is lost; the ones after it are not."""

        def choice(request: bytes, _: object) -> bool:
            if marker not in request:
                return False
            self._choice = _none
            return True

        self._choice = choice

    def lose_commit_after(self, marker: bytes) -> None:
        """The answer to the next COMMIT is lost whose transaction has sent the marker."""
        marked: set[object] = set()

        def choice(request: bytes, connection: object) -> bool:
            if marker in request:
                marked.add(connection)
            if connection not in marked or b"COMMIT;" not in request:
                return False
            self._choice = _none
            return True

        self._choice = choice

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_connection(self._parts.hostname, self._parts.port)
        doomed = asyncio.Event()
        pumps = [
            asyncio.create_task(self._requests(client, to_server, doomed)),
            asyncio.create_task(self._answers(server, to_client, doomed)),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            for writer in (to_client, to_server):
                writer.transport.abort()

    async def _requests(self, client: asyncio.StreamReader, server: asyncio.StreamWriter, doomed: asyncio.Event) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await client.read(65536):
                if self._choice(data, client):
                    doomed.set()
                server.write(data)
                await server.drain()

    async def _answers(self, server: asyncio.StreamReader, client: asyncio.StreamWriter, doomed: asyncio.Event) -> None:
        swallowed = b""
        with contextlib.suppress(ConnectionError):
            while data := await server.read(65536):
                if not doomed.is_set():
                    client.write(data)
                    await client.drain()
                    continue
                swallowed = (swallowed + data)[-16:]
                if _READY.search(swallowed):
                    self.lost += 1
                    return

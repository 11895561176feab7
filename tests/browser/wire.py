"""The cable between a browser and the server: it can be cut in the middle of a request, and mended."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit


class Wire:
    """`address` is its near end."""

    def __init__(self, far_end: str) -> None:
        self._host, self._port = urlsplit(far_end).hostname, urlsplit(far_end).port
        self._open: set[asyncio.StreamWriter] = set()
        self._whole = True
        self.address = ""

    def cut(self) -> None:
        """Whatever is on its way is lost, and nothing gets through from now on."""
        self._whole = False
        for end in self._open:
            end.transport.abort()

    def mend(self) -> None:
        self._whole = True

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._whole:
            writer.transport.abort()
            return
        far_reader, far_writer = await asyncio.open_connection(self._host, self._port)
        ends = {writer, far_writer}
        self._open |= ends
        try:
            await asyncio.gather(_carry(reader, far_writer), _carry(far_reader, writer))
        finally:
            self._open -= ends
            for end in ends:
                end.transport.abort()


async def _carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await source.read(65536):
            target.write(piece)
            await target.drain()
        target.write_eof()


@asynccontextmanager
async def laid_wire(far_end: str) -> AsyncIterator[Wire]:
    wire = Wire(far_end)
    server = await asyncio.start_server(wire.connect, "127.0.0.1", 0)
    wire.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield wire
    finally:
        server.close()
        wire.cut()
        await server.wait_closed()

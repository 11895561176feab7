"""A small HTTP server of objects that misbehaves as it is told: it breaks off, ignores ranges, sends other bytes."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Pier:
    """`cuts` are how many bytes of the next answers' bodies come before the connection breaks; then they come whole."""

    data: bytes
    etag: str = "one"
    cuts: list[int] = field(default_factory=list)
    ranges: bool = True
    matches: bool = True
    shift: int = 0
    """How far beside the range that was asked for the answer lies."""
    amazons: bool = False
    encoding: str = ""
    asked: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def put(self, data: bytes, etag: str) -> None:
        self.data, self.etag = data, etag

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
            self.asked.append(headers)
            writer.write(self._answer(headers))
            await writer.drain()
        finally:
            writer.close()

    def _answer(self, headers: dict[str, str]) -> bytes:
        if self.matches and headers.get("if-match", f'"{self.etag}"') != f'"{self.etag}"':
            return b"HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        first, status, more = 0, "200 OK", ""
        if self.ranges and "range" in headers:
            first = max(0, int(headers["range"].removeprefix("bytes=").rstrip("-")) + self.shift)
            status, more = "206 Partial Content", f"Content-Range: bytes {first}-{len(self.data) - 1}/{len(self.data)}\r\n"
            if first >= len(self.data):
                return b"HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        if self.amazons:
            more += "x-amz-request-id: 1\r\n"
        body = self.data[first:]
        if self.encoding:
            more += f"Content-Encoding: {self.encoding}\r\n"
        tag = f'ETag: "{self.etag}"\r\n' if self.etag else ""
        told = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{tag}{more}Connection: close\r\n\r\n"
        return told.encode() + (body[: self.cuts.pop(0)] if self.cuts else body)


@asynccontextmanager
async def opened_pier(data: bytes) -> AsyncIterator[Pier]:
    pier = Pier(data)
    server = await asyncio.start_server(pier.answer, "127.0.0.1", 0)
    pier.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/object"
    async with server:
        yield pier


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

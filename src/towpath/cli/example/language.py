"""A small HTTP service that tells a text's language, and a client for it.

It stands for the model server of a real installation, down to its worst habit: it loads what it needs on the first
request, and answers 503 until it has.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from typing import Self

from towpath.cli.example.documents import TONGUES
from towpath.core.errors import Transient

_LONGEST_REQUEST = 64 * 1024

Profile = Counter[str]


class LanguageService:
    """Open it with `async with`; it listens on a free port of this machine."""

    def __init__(self) -> None:
        self._profiles: dict[str, Profile] = {}
        self._loading: asyncio.Task[None] | None = None
        self._server: asyncio.Server | None = None
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._loading is not None:
            await self._loading
        if self._server is not None:
            self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.split("content-length:", 1)[1].split("\r\n", 1)[0])
        body = await reader.readexactly(min(length, _LONGEST_REQUEST))
        status, value = self._reply(body.decode("utf-8"))
        answer = json.dumps(value).encode()
        writer.write(f"HTTP/1.0 {status}\r\nContent-Length: {len(answer)}\r\n\r\n".encode() + answer)
        await writer.drain()
        writer.close()

    def _reply(self, text: str) -> tuple[str, dict[str, object]]:
        if self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(self._load))
        if not self._loading.done():
            return "503 Service Unavailable", {"error": "the profiles are being loaded"}
        asked = profile(text)
        scores = {name: _likeness(asked, known) for name, known in self._profiles.items()}
        best = max(scores, key=scores.__getitem__)
        return "200 OK", {"language": best, "score": round(scores[best], 3)}

    def _load(self) -> None:
        for name, tongue in TONGUES.items():
            self._profiles[name] = profile(" ".join((*tongue.sentences, *tongue.things, *tongue.places)))


def profile(text: str) -> Profile:
    """How often every three letters follow each other."""
    letters = " ".join(text.lower().split())
    return Counter(letters[index : index + 3] for index in range(len(letters) - 2))


def _likeness(one: Profile, other: Profile) -> float:
    shared = sum(count * other[three] for three, count in one.items())
    return shared / (math.hypot(*one.values()) * math.hypot(*other.values()) or 1.0)


async def ask_language(service: LanguageService, text: str) -> str:
    """What the service says. One that is not up or not ready is a passing trouble."""
    body = text.encode("utf-8")
    try:
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
            writer.write(f"POST /language HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            head, _, answer = (await reader.read()).partition(b"\r\n\r\n")
            writer.close()
    except OSError as error:
        raise Transient(f"the language service cannot be reached: {error}") from error
    status = head.split(b"\r\n", 1)[0].split(b" ", 2)[1].decode()
    if status != "200":
        raise Transient(f"the language service answers {status}, it is still loading")
    return str(json.loads(answer)["language"])

"""What a request may carry: a little JSON. Routes that take a job's payload, or files, say so here."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException

from towpath.http.facts import SAFE
from towpath.http.problems import Problem

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

SMALL = 64 * 1024
"""What a request may have that carries no payload: to log in, to change a setting, to name a thousand jobs."""
MARGIN = 1024 * 1024
"""What surrounds a payload in a request."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """A route whose body goes to storage as it comes. It counts for itself: nothing else limits the body."""

    method: str
    path: re.Pattern[str]
    media_type: str

    def refusal(self, headers: Mapping[str, str]) -> Problem | None:
        has_body = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
        if not has_body or _kind(headers.get("content-type", "")) == self.media_type:
            return None
        return Problem(
            "invalid", 415, f"the body must be {self.media_type}",
            title="The request has the wrong type", remedy=f"send it with the header `Content-Type: {self.media_type}`",
        )  # fmt: skip


_streamed: set[Streamed] = set()


def stream(method: str, path: str, media_type: str) -> None:
    """Declares a route that streams; `path` is a pattern for the whole path below the mount point."""
    _streamed.add(Streamed(method, re.compile(path), media_type))


_large: dict[tuple[str, re.Pattern[str]], int | None] = {}


def large(method: str, path: str, most: int | None = None) -> None:
    """Declares a route that takes so much, or else as much as a job may have as its payload; every other one takes `SMALL`
    bytes."""
    _large[method, re.compile(path)] = most


def most_for(method: str, path: str, max_payload_bytes: int) -> int:
    for (one, pattern), most in _large.items():
        if one == method and pattern.fullmatch(path):
            return max_payload_bytes + MARGIN if most is None else most
    return SMALL


def streamed(method: str, path: str) -> Streamed | None:
    return next((one for one in _streamed if one.method == method and one.path.fullmatch(path)), None)


def refusal(method: str, headers: Mapping[str, str], most: int) -> Problem | None:
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        return Problem("too_large", 413, _too_large(most))
    has_body = "transfer-encoding" in headers or (length.isdecimal() and int(length) > 0)
    if method in SAFE or not has_body or _is_json(headers.get("content-type", "")):
        return None
    return Problem(
        "invalid", 415, "the body must be JSON", remedy="send it with the header `Content-Type: application/json`"
    )  # fmt: skip


def _is_json(content_type: str) -> bool:
    return _kind(content_type) == "application/json"


def _kind(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _too_large(most: int) -> str:
    return f"the body is larger than the {most:,} bytes this server takes"


def counted(receive: Receive, most: int) -> Receive:
    """Refuses a body that has no length in its header as soon as too much of it has come."""
    taken = 0

    async def counting() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b"")) if message["type"] == "http.request" else 0
        if taken > most:
            raise HTTPException(413, _too_large(most))
        return message

    return counting

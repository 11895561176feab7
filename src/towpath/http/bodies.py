"""What a request may carry: JSON, and not more than a job's payload can be."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException

from towpath.http.facts import SAFE
from towpath.http.problems import Problem

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

MARGIN = 1024 * 1024
"""What surrounds a payload in a request."""


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
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json"


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

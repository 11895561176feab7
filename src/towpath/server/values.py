"""Payloads and results on their way out: small ones in the answer, large ones as a download."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from fastapi.responses import StreamingResponse

from towpath.blobs import BlobStore
from towpath.core.encoding import DEEPEST, decode, deeper_than
from towpath.engine.values import Values, is_reference

MOST_INLINED = 256 * 1024


async def inlined(values: Values, text: str | None) -> tuple[Any, bool]:
    """The value, and whether it was left out because it is too large or nested too deeply."""
    if text is None:
        return None, False
    try:
        value = decode(text)
        if not is_reference(value):
            return _showable(value) if len(text.encode()) <= MOST_INLINED else (None, True)
        if value["bytes"] > MOST_INLINED:
            return None, True
        return _showable(await values.load(value))
    except RecursionError:
        return None, True


def _showable(value: Any) -> tuple[Any, bool]:
    """Values from before depth was bounded, or from somebody's own SQL, are only downloaded."""
    return (None, True) if deeper_than(value, DEEPEST) else (value, False)


async def download(blobs: BlobStore, text: str, name: str) -> StreamingResponse:
    """The value as a file, streamed from where it lies; it never opens in the browser."""
    value = _reference_in(text)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if value is None:
        body = text.encode()
        headers["Content-Length"] = str(len(body))
        return StreamingResponse(_once(body), media_type="application/json", headers=headers)
    headers["Content-Length"] = str(value["bytes"])
    first = _pieces(blobs, value["$blob"])
    head = await anext(first, b"")  # a blob that is gone must be known before the status is sent
    return StreamingResponse(_after(head, first), media_type="application/json", headers=headers)


def _reference_in(text: str) -> dict[str, Any] | None:
    try:
        value = decode(text)
    except RecursionError:  # a reference has one level
        return None
    return value if is_reference(value) else None


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def _pieces(blobs: BlobStore, key: str) -> AsyncIterator[bytes]:
    async with aclosing(blobs.open(key)) as stream:
        async for piece in stream:
            yield piece


async def _after(head: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield head
    async for piece in rest:
        yield piece

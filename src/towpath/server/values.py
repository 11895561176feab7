"""Payloads and results on their way out: small ones in the answer, large ones as a download."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from fastapi.responses import StreamingResponse

from towpath.blobs import BlobStore
from towpath.core.encoding import decode
from towpath.engine.values import Values, is_reference

MOST_INLINED = 256 * 1024


async def inlined(values: Values, text: str | None) -> tuple[Any, bool]:
    """The value, and whether it was left out because it is too large."""
    if text is None:
        return None, False
    value = decode(text)
    if not is_reference(value):
        return (value, False) if len(text.encode()) <= MOST_INLINED else (None, True)
    if value["bytes"] > MOST_INLINED:
        return None, True
    return await values.load(value), False


async def download(blobs: BlobStore, text: str, name: str) -> StreamingResponse:
    """The value as a file, streamed from where it lies; it never opens in the browser."""
    value = decode(text)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    if not is_reference(value):
        body = text.encode()
        headers["Content-Length"] = str(len(body))
        return StreamingResponse(_once(body), media_type="application/json", headers=headers)
    headers["Content-Length"] = str(value["bytes"])
    first = _pieces(blobs, value["$blob"])
    head = await anext(first, b"")  # a blob that is gone must be known before the status is sent
    return StreamingResponse(_after(head, first), media_type="application/json", headers=headers)


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

"""Payloads, step outputs and results on their way to a row: small ones inline, large ones as blobs.

A blob is written and durable before the row that names it. Its key carries the attempt, so a superseded attempt can
write whatever it likes: no row will ever name it.
"""

from __future__ import annotations

import json
from typing import Any

from towpath.blobs import BlobStore
from towpath.core.encoding import decode, encode
from towpath.core.errors import EncodingError, PayloadTooLarge

_REFERENCE = "$blob"
_MARK = f'"{_REFERENCE}"'


class Values:
    def __init__(self, blobs: BlobStore, *, inline_bytes: int, max_bytes: int) -> None:
        self._blobs = blobs
        self.inline_bytes, self._max_bytes = inline_bytes, max_bytes

    def encode(self, value: Any, what: str) -> str:
        return self.check(encode(value, what=what), what)

    def check(self, text: str, what: str) -> str:
        """Refuses what is too large, and what would be taken for a reference to somebody else's blob."""
        if _MARK in text and is_reference(decode(text)):
            raise EncodingError(f"{what} has the key {_REFERENCE!r}, which is reserved; name it differently")
        # len() counts characters and a character is at least a byte, so this never lets too much through.
        if len(text) > self._max_bytes or (len(text) * 4 > self._max_bytes and len(text.encode()) > self._max_bytes):
            raise PayloadTooLarge(
                f"{what} is {len(text.encode()):,} bytes, the limit is {self._max_bytes:,}; store it with blobs.put() and "
                f"pass the key, or raise TOWPATH_MAX_PAYLOAD_BYTES"
            )
        return text

    def small(self, text: str) -> bool:
        return len(text) <= self.inline_bytes

    async def place(self, text: str, key: str) -> str:
        """The text itself, or a reference to the blob it has become."""
        if self.small(text):
            return text
        data = text.encode()
        await self._blobs.put(key, data)
        return _reference(key, len(data))

    def reference(self, text: str, key: str) -> str:
        """What `place` will answer."""
        return text if self.small(text) else _reference(key, len(text.encode()))

    async def fetch(self, text: str | None) -> Any:
        if text is None:
            return None
        value = decode(text)
        return await self.load(value) if is_reference(value) else value

    async def apart(self, text: str, key: str) -> dict[str, Any]:
        """A blob in any case, and the reference to it, for what must not stand in a row."""
        data = text.encode()
        await self._blobs.put(key, data)
        return {_REFERENCE: key, "bytes": len(data)}

    async def forget(self, reference: dict[str, Any]) -> None:
        await self._blobs.delete(reference[_REFERENCE])

    async def load(self, reference: dict[str, Any]) -> Any:
        return decode(await self._blobs.get(reference[_REFERENCE]))


def _reference(key: str, size: int) -> str:
    return json.dumps({_REFERENCE: key, "bytes": size})


def is_reference(value: Any) -> bool:
    return isinstance(value, dict) and _REFERENCE in value


def blob_prefix(job_id: str) -> str:
    return f"jobs/{job_id}"


def payload_key(job_id: str) -> str:
    return f"{blob_prefix(job_id)}/payload"

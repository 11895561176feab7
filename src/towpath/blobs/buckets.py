"""Blobs in a bucket: S3 and what speaks its protocol, Google Cloud Storage, Azure Blob Storage; all through obstore."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from towpath.blobs.bucket_errors import meaning_of, past_the_end
from towpath.blobs.contract import BlobInfo
from towpath.blobs.errors import BlobNotFound, BlobStoreClosed, BlobStoreUnavailable
from towpath.blobs.keys import check_key, check_prefix

PART = 8 * 1024 * 1024
"""Bytes in one part of an upload: what a value costs in memory is a few of them."""
_READ = 4 * 1024 * 1024
"""Bytes in one request of a reader, of whom there may be many at a time."""
_AT_ONCE = 2
_PAGE = 1000
_FOLDERS_AT_ONCE = 16


class BucketBlobs:
    """A `BlobStore` below a prefix of a bucket. `address` is that place as others know it, such as s3://bucket/prefix."""

    def __init__(self, store: Any, address: str) -> None:
        self._store, self._address, self._closed = store, address.rstrip("/"), False

    async def put(self, key: str, data: bytes | AsyncIterable[bytes]) -> BlobInfo:
        check_key(key)
        first, rest = await _beginning(data)
        parts = _Parts(first, rest)
        try:
            with self._asking(key):
                if rest is None:
                    made = await self._store.put_async(key, bytes(first), use_multipart=False)
                else:
                    made = await self._store.put_async(key, aiter(parts), chunk_size=PART, max_concurrency=_AT_ONCE)
        except BlobStoreUnavailable:
            if parts.broken is not None:
                raise parts.broken from None
            raise
        # Who replaces or deletes it in this instant makes it younger than it is, and nothing else.
        now = await self.head(key)
        return BlobInfo(key, parts.size, made["e_tag"] or "", now.created if now else datetime.now(UTC))

    async def get(self, key: str) -> bytes:
        check_key(key)
        with self._asking(key):
            return bytes(await (await self._store.get_async(key)).bytes_async())

    async def open(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        """Part by part, each only if it is of the value that the first one was of: no request is open for long."""
        check_key(key)
        if start < 0 or (end is not None and end < start):
            raise ValueError(f"a range needs 0 <= start <= end, got start={start} and end={end}")
        tag, size = None, start + 1
        while start < (size if end is None else min(end, size)):
            upto = start + _READ if end is None else min(start + _READ, end)
            with self._asking(key):
                part, tag, size = await self._part(key, start, upto, tag)
            start += len(part)
            if part:
                yield part
        if tag is None:
            with self._asking(key):
                await self._store.head_async(key)

    async def _part(self, key: str, start: int, end: int, tag: str | None) -> tuple[bytes, str, int]:
        """Bytes of the value that has this tag, of whichever there is if that is None; and the value's tag and size."""
        options = {"range": (start, end), **({"if_match": tag} if tag else {})}
        try:
            found = await self._store.get_async(key, options=options)
        except Exception as error:
            if not past_the_end(error):
                raise
            known = await self._store.head_async(key)
            return b"", known["e_tag"], min(start, known["size"])
        return bytes(await found.bytes_async()), found.meta["e_tag"], found.meta["size"]

    async def head(self, key: str) -> BlobInfo | None:
        check_key(key)
        try:
            with self._asking(key):
                return _described(key, await self._store.head_async(key))
        except BlobNotFound:
            return None

    async def delete(self, key: str) -> None:
        check_key(key)
        with suppress(BlobNotFound), self._asking(key):
            await self._store.delete_async(key)

    async def delete_prefix(self, prefix: str) -> int:
        check_prefix(prefix, allow_empty=False)
        return await self.delete_prefixes([prefix])

    async def delete_prefixes(self, prefixes: Sequence[str]) -> int:
        for prefix in prefixes:
            check_prefix(prefix, allow_empty=False)
        turns = asyncio.Semaphore(_FOLDERS_AT_ONCE)
        return sum(await asyncio.gather(*(self._delete_below(prefix, turns) for prefix in prefixes)))

    async def _delete_below(self, prefix: str, turns: asyncio.Semaphore) -> int:
        async with turns:
            keys = [info.key async for info in self.list(prefix)]
            for first in range(0, len(keys), _PAGE):
                await self._delete_all(keys[first : first + _PAGE])
        return len(keys)

    async def _delete_all(self, keys: list[str]) -> None:
        try:
            with self._asking(keys[0]):
                await self._store.delete_async(keys)
        except BlobNotFound:  # somebody else deletes the same ones: what came behind the missing one may be left
            for key in keys:
                await self.delete(key)

    async def sweep(self) -> int:
        """Nothing: what a killed or cancelled writer left are parts of an upload, for a lifecycle rule of the bucket."""
        return 0

    async def list(self, prefix: str = "") -> AsyncGenerator[BlobInfo, None]:
        folder = "/".join(check_prefix(prefix, allow_empty=True))
        with self._asking(prefix):
            pages = self._store.list(f"{folder}/" if folder else None, chunk_size=_PAGE)
        while True:
            with self._asking(prefix):
                page = await anext(pages, None)
            if page is None:
                return
            for found in page:
                if not folder or found["path"].startswith(f"{folder}/"):
                    yield _described(found["path"], found)

    async def move(self, source: str, target: str) -> None:
        check_key(source), check_key(target)
        with self._asking(source):
            if source == target:
                await self._store.head_async(source)
                return
            await self._store.copy_async(source, target)
        await self.delete(source)

    def uri(self, key: str) -> str | None:
        check_key(key)
        return f"{self._address}/{key}"

    async def sign(self, key: str, *, method: Literal["GET", "PUT"] = "GET", seconds: float) -> str | None:
        from obstore import sign_async

        check_key(key)
        with self._asking(key):
            return await sign_async(self._store, method, key, timedelta(seconds=seconds))

    async def aclose(self) -> None:
        self._closed = True

    @contextmanager
    def _asking(self, key: str) -> Iterator[None]:
        from obstore.exceptions import BaseError

        if self._closed:
            raise BlobStoreClosed(f"the blob store at {self._address} is closed; open it again before using it")
        try:
            yield
        except (BaseError, OSError) as error:
            raise meaning_of(error, self._address, key) from None


def _described(key: str, found: Any) -> BlobInfo:
    return BlobInfo(key, found["size"], found["e_tag"] or "", found["last_modified"].astimezone(UTC))


async def _beginning(data: bytes | AsyncIterable[bytes]) -> tuple[bytes | bytearray, AsyncIterator[bytes] | None]:
    """All of what fits into one part, which needs one request; or its beginning, and what yields the rest."""
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data), None
    rest, first = aiter(data), bytearray()
    async for piece in rest:
        first += piece
        if len(first) >= PART:
            return first, rest
    return first, None


class _Parts:
    """A stream on its way to the bucket: how much came, and what broke it, which is not the bucket's fault."""

    def __init__(self, first: bytes | bytearray, rest: AsyncIterator[bytes] | None) -> None:
        self._first, self._rest, self.size = first, rest, len(first)
        self.broken: Exception | None = None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield bytes(self._first)
        if self._rest is None:
            return
        try:
            async for piece in self._rest:
                self.size += len(piece)
                if piece:
                    yield piece
        except Exception as error:
            self.broken = error
            raise

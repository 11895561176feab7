"""The next bytes of an upload.

A request's body is stored in parts of a few megabytes, each committed by itself: a connection that breaks loses nothing
of what has come, a server that is killed loses at most the part it was at.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator

from towpath.assets.errors import AssetNotFound, AssetRefused
from towpath.assets.keeping import blob_folder, get
from towpath.assets.purposes import kinds_of
from towpath.assets.receiving import checked_kind
from towpath.assets.records import Upload
from towpath.assets.sniffing import HEAD
from towpath.assets.uploads.creating import find
from towpath.assets.uploads.finishing import fail
from towpath.engine.app import App
from towpath.http.problems import Problem
from towpath.store.contract import Tx

PART = 8 * 1024 * 1024


class Misplaced(Problem):
    """The bytes do not go where the upload goes on; somebody else may have sent them."""

    def __init__(self, given: int, expected: int) -> None:
        super().__init__(
            "conflict", 409, f"the upload goes on at byte {expected:,}, and not at {given:,}",
            remedy="ask with HEAD where it goes on, and send the rest from there", headers={"Upload-Offset": str(expected)},
        )  # fmt: skip
        self.expected = expected


async def append(app: App, upload: Upload, offset: int, body: AsyncIterator[bytes]) -> int:
    """Stores what `body` gives, as far as it goes; answers where the upload goes on after it."""
    if offset != upload.received:
        raise Misplaced(offset, upload.received)
    cut = _Cut(body)
    while offset < upload.length and not await cut.ended():
        offset += await _store_part(app, upload, offset, cut)
    return offset


async def _store_part(app: App, upload: Upload, start: int, cut: _Cut) -> int:
    key = f"{blob_folder(upload.id)}/parts/{start:020}-{secrets.token_hex(8)}"
    most = min(PART, upload.length - start)
    kept = False
    try:
        info = await app.services.blobs.put(key, cut.take(most))
        if start + info.size == upload.length and not await cut.ended():
            raise _too_much(upload)
        if start == 0:
            await _check_beginning(app, upload, cut.head, info.size)
        if not await _commit(app, upload, start, info.size, key):
            raise await _elsewhere(app, upload, start)
        kept = True
        return info.size
    finally:
        if not kept:
            await app.services.blobs.delete(key)


async def _commit(app: App, upload: Upload, start: int, size: int, key: str) -> bool:
    async def unit(tx: Tx) -> bool:
        if not await tx.execute("asset_upload_advance", id=upload.id, start=start, bytes=size, now=tx.now):
            return False
        await tx.execute("asset_part_add", id=upload.id, start=start, bytes=size, blob_key=key)
        await tx.execute("asset_touch", id=upload.id, now=tx.now)
        return True

    return await app.services.store.run(unit)


async def _elsewhere(app: App, upload: Upload, start: int) -> Problem:
    now = await find(app.services.store, upload.id)
    return AssetNotFound(upload.id) if now is None else Misplaced(start, now.received)


async def _check_beginning(app: App, upload: Upload, head: bytes, size: int) -> None:
    """What the file is shows in its first bytes: nobody sends the rest of one that will be refused."""
    if size < HEAD and size < upload.length:
        return
    asset = await get(app.services.store, upload.tenant, upload.id)
    try:
        checked_kind(asset.name, head, kinds_of(upload.purpose))
    except AssetRefused as refused:
        await fail(app, upload, refused)
        raise


def _too_much(upload: Upload) -> Problem:
    return Problem(
        "too_large", 413, f"the upload was announced with {upload.length:,} bytes, and more have come",
        remedy="make a new upload with the right length",
    )  # fmt: skip


class _Cut:
    """A body that is taken in pieces of a given size."""

    def __init__(self, body: AsyncIterator[bytes]) -> None:
        self._body, self._rest, self.head = body, b"", b""

    async def ended(self) -> bool:
        while not self._rest:
            try:
                self._rest = await anext(self._body)
            except StopAsyncIteration:
                return True
        return False

    async def take(self, most: int) -> AsyncIterator[bytes]:
        while most and not await self.ended():
            piece, self._rest = self._rest[:most], self._rest[most:]
            most -= len(piece)
            if len(self.head) < HEAD:
                self.head += piece[: HEAD - len(self.head)]
            yield piece

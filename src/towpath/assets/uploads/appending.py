"""The next bytes of an upload.

A request's body is stored in parts of a few megabytes, each committed by itself: a connection that breaks loses nothing
of what has come, a server that is killed loses at most the part it was at.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from towpath import App, TowpathError, Transaction
from towpath.assets.errors import AssetNotFound, AssetRefused, Misplaced, longer_than_announced
from towpath.assets.intake import checked_kind
from towpath.assets.keys import new_part_key
from towpath.assets.lookup import get
from towpath.assets.purposes import purpose_of
from towpath.assets.records import Upload
from towpath.assets.sniffing import HEAD
from towpath.assets.uploads.creating import find
from towpath.assets.uploads.finishing import enqueue_finish
from towpath.assets.uploads.refusing import refusal_of, refuse
from towpath.assets.uploads.turns import turn

PART = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Appended:
    """Where the upload goes on. With its last byte it has a job, which hands it over."""

    offset: int
    job_id: str | None = None


async def append(app: App, upload: Upload, offset: int, body: AsyncIterator[bytes]) -> Appended:
    """Stores what `body` gives, as far as it goes, or until somebody else goes on with this upload."""
    async with turn(upload.id) as own:
        now = await find(app, upload.id)  # whoever had the turn before has stored something, perhaps
        if now is None:
            raise AssetNotFound(upload.id)
        if now.error is not None:
            raise refusal_of(now.error)
        if offset != now.received:
            raise Misplaced(offset, now.received)
        cut, reached = _Cut(own.pieces(body)), Appended(offset)
        while reached.offset < upload.length and not await cut.ended():
            reached = await _store_part(app, now, reached.offset, cut)
        return reached


async def _store_part(app: App, upload: Upload, start: int, cut: _Cut) -> Appended:
    key = new_part_key(upload.id, start)
    most = min(PART, upload.length - start)
    committed: Appended | None = None
    try:
        info = await app.blobs.put(key, cut.take(most))
        if start + info.size == upload.length and not await cut.ended():
            raise longer_than_announced(upload.length)
        if start == 0:
            await _check_beginning(app, upload, cut.head, info.size)
        committed = await _commit(app, upload, start, info.size, key)
        if committed is None:
            raise await _elsewhere(app, upload, start)
        return committed
    finally:
        if committed is None:
            await app.blobs.delete(key)


async def _commit(app: App, upload: Upload, start: int, size: int, key: str) -> Appended | None:
    """The part, how far the upload has come by it, and, if it was the last one, the job that does the rest."""

    async def unit(tx: Transaction) -> Appended | None:
        if not await tx.change("asset_upload_advance", id=upload.id, start=start, bytes=size, now=tx.now):
            return None
        await tx.change("asset_part_add", id=upload.id, start=start, bytes=size, blob_key=key)
        await tx.change("asset_touch", id=upload.id, now=tx.now)
        is_last = start + size == upload.length
        return Appended(start + size, await enqueue_finish(tx, upload.id, upload.tenant) if is_last else None)

    return await app.transact(unit)


async def _elsewhere(app: App, upload: Upload, start: int) -> TowpathError:
    now = await find(app, upload.id)
    return AssetNotFound(upload.id) if now is None else Misplaced(start, now.received)


async def _check_beginning(app: App, upload: Upload, head: bytes, size: int) -> None:
    """What the file is shows in its first bytes: nobody sends the rest of one that will be refused."""
    if size < HEAD and size < upload.length:
        return
    asset = await get(app, upload.tenant, upload.id)
    try:
        checked_kind(asset.name, head, purpose_of(app, upload.purpose).kinds)
    except AssetRefused as refused:
        await refuse(app, upload, refused)
        raise


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

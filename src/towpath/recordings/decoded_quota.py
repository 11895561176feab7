"""The quota on decoded audio, counted as it comes: a few kilobytes of a file can be hours of it, which no upload quota knows
of.

What a tenant's recordings take up together is limited, and some of the disk is left to everybody else.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path

from towpath import Context, RetryLater, SchemaInvalid, State, Transaction

STEP = 32 * 1024 * 1024
"""So much is taken at a time, a little ahead; what was too much is given back in the end."""
_SPARE = 100 * 1024 * 1024
_LATER = 30.0
_SETTING = "TOWPATH_DECODED_QUOTA_BYTES"


class DecodedQuota:
    """What the decoded audio of one job takes of it. It is kept until `give_back`, or until the job is deleted."""

    def __init__(self, ctx: Context, most: int) -> None:
        self._ctx, self._most, self._taken = ctx, most, 0

    @asynccontextmanager
    async def taken(self, stream: AsyncIterator[bytes]) -> AsyncIterator[AsyncIterator[bytes]]:
        """What comes of the stream, as far as there is room. If anything goes wrong, nothing is taken."""
        try:
            async with aclosing(self._pieces(stream)) as pieces:
                yield pieces
        except BaseException:
            with suppress(Exception):
                await asyncio.shield(self.give_back())
            raise

    async def _pieces(self, stream: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
        size = 0
        async for piece in stream:
            size += len(piece)
            if size > self._taken:
                await self._take(max(size, min(size + STEP, self._most or size + STEP)))
            yield piece
        await self._take(size)

    async def give_back(self) -> None:
        self._taken = 0
        await self._ctx.transact(lambda tx: tx.change("decoded_forget", ids=[self._ctx.id]))

    async def _take(self, size: int) -> None:
        if size > self._taken:
            await asyncio.to_thread(self._check_disk, size - self._taken)
        await self._ctx.transact(lambda tx: self._count(tx, size))
        self._taken = size

    async def _count(self, tx: Transaction, size: int) -> None:
        await tx.query("asset_usage_lock", tenant=self._ctx.tenant)
        rows = await tx.query("decoded_of", tenant=self._ctx.tenant)
        if gone := [row["job_id"] for row in rows if row["state"] is None]:
            await tx.change("decoded_forget", ids=gone)
        others = [row for row in rows if row["state"] is not None and str(row["job_id"]) != self._ctx.id]
        taken = sum(row["bytes"] for row in others)
        if self._most and taken + size > self._most:
            raise self._refusal(size, taken, any(State(row["state"]).live for row in others))
        await tx.change("decoded_take", id=self._ctx.id, tenant=self._ctx.tenant, bytes=size)

    def _refusal(self, size: int, taken: int, ends: bool) -> Exception:
        if size > self._most:
            return SchemaInvalid(
                f"decoded, the recording takes up more than the {self._most:,} bytes that a tenant has for decoded audio",
                remedy=f"cut it into parts, or raise {_SETTING}",
            )
        told = f"{taken:,} of {self._most:,} bytes for decoded audio are taken by other recordings of this tenant"
        if ends:
            return RetryLater(f"{told}; it goes on when one of them is done", _LATER)
        return SchemaInvalid(
            f"{told} that failed or were cancelled", remedy=f"retry or delete those first, or raise {_SETTING}"
        )

    def _check_disk(self, more: int) -> None:
        root = getattr(self._ctx.blobs, "root", None)
        if isinstance(root, Path):
            free = shutil.disk_usage(root).free
            if free - more < _SPARE:
                raise RetryLater(
                    f"the disk has {free:,} bytes left, too little to decode a recording; free some space", _LATER
                )

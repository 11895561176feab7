"""LOCAL: some requests of a batch, asked one by one at the chat service of the settings.

Each is on record when it has been answered: whoever comes after a crash asks only what is left.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from dataclasses import dataclass
from typing import Any

from towpath import Context, Fatal, RateLimited, SchemaInvalid, Transient, choices
from towpath.batches import stored
from towpath.batches.answers import Unreadable, line_of, readable
from towpath.batches.lines import lines_of
from towpath.batches.names import answers_key, shard_key
from towpath.models.chat import Chat, client_for, tokens_of
from towpath.providers import Result

ATTEMPTS = 5
AT_ONCE = 8
_IN_HAND = 3 * AT_ONCE
"""Those that are asked, and those whose answers are on their way into the record: a crash costs no more than these."""
_TELL_SECONDS = 2.0
"""So often at the most the batch hears how far its part is: somebody may be watching, and answers can take minutes."""


@dataclass(slots=True)
class Asked:
    batch_id: str
    model: int
    shard: int
    count: int


async def answer(ctx: Context, asked: Asked) -> dict[str, int]:
    batch = await stored.find(ctx, asked.batch_id, tenant=ctx.tenant)
    chat = client_for(await choices.settings_in(ctx), batch.models[asked.model])
    if chat is None:
        raise Fatal(
            "LOCAL asks the chat service of this installation, and there is none",
            remedy="choose one in Settings → Models, or set TOWPATH_CHAT_URL where the workers run; then retry",
        )
    lines = [json.loads(line) async for line in lines_of(ctx.blobs, shard_key(batch.id, asked.model, asked.shard))]
    async with chat.connected() as connected:
        asking = _Asking(ctx, connected, len(lines))
        try:
            await ctx.parallel(*(asking.ask(line["custom_id"], line["body"]) for line in lines))
        except (Fatal, RateLimited):
            await _keep_what_there_is(ctx, asked, asking)
            raise
    written = ctx.blobs.put(answers_key(batch.id, asked.model, asked.shard), asking.lines())
    await asyncio.gather(ctx.share_progress(), written)
    failed = sum(one["error"] is not None for one in asking.told)
    return {"ok": len(asking.told) - failed, "failed": failed}


async def _keep_what_there_is(ctx: Context, asked: Asked, asking: _Asking) -> None:
    """Should this be the job's end, what was answered until then is in the results. The event is fenced, and so nobody
    writes here whose job is another's by now."""
    fields = {"answered": len(asking.told), "of": asking.total}
    await ctx.emit("batch.interrupted", f"{len(asking.told)} of {asking.total} were answered", fields=fields)
    await ctx.share_progress()
    await ctx.blobs.put(answers_key(asked.batch_id, asked.model, asked.shard), asking.lines())


class _Asking:
    """`told` is what came of each request that is on record."""

    def __init__(self, ctx: Context, chat: Chat, total: int) -> None:
        self._ctx, self._chat, self.total = ctx, chat, total
        self._hands, self._doors = asyncio.Semaphore(_IN_HAND), asyncio.Semaphore(AT_ONCE)
        self._refused: Fatal | None = None
        self._told_at = -math.inf
        self.told: list[dict[str, Any]] = []

    def lines(self) -> bytes:
        kept = [line for one in self.told if (line := line_of(Result(**one))) is not None]
        return b"".join(text.encode() + b"\n" for _, text in sorted(kept))

    async def ask(self, ref: str, body: dict[str, Any]) -> None:
        async with self._hands:
            self._unless_refused()
            self.told.append(await self._ctx.step("request", self._one, ref, body, key=ref))
        await self._ctx.progress(len(self.told), self.total)
        now = time.monotonic()
        if now >= self._told_at + _TELL_SECONDS:
            self._told_at = now
            await self._ctx.share_progress()

    async def _one(self, ref: str, body: dict[str, Any]) -> dict[str, Any]:
        """What is wrong with one request is that one's answer; what is wrong with the service is the job's failure."""
        ctx = self._ctx
        try:
            async with self._doors:  # and not while it is written down: the next one is asked meanwhile
                response = await self._asked(body)
        except SchemaInvalid as error:
            return _told(ref, error=str(error), code="refused")
        except Transient as error:
            if ctx.attempt < ATTEMPTS:
                raise
            return _told(ref, error=str(error), code="unavailable")
        tokens_in, tokens_out = tokens_of(response)
        await ctx.meter(model=self._chat.model, tokens_in=tokens_in, tokens_out=tokens_out)
        try:
            return _told(ref, readable(response), tokens_in=tokens_in, tokens_out=tokens_out)
        except Unreadable as error:
            return _told(ref, error=str(error), code="unreadable", tokens_in=tokens_in, tokens_out=tokens_out)

    async def _asked(self, body: dict[str, Any]) -> dict[str, Any]:
        self._unless_refused()
        await self._ctx.budget(self._chat.budget)  # another job may have been told to wait
        try:
            return await self._chat.complete(body)
        except Fatal as error:
            self._refused = error
            raise

    def _unless_refused(self) -> None:
        if self._refused is not None:
            raise self._refused  # whoever asks next would be told the same


def _told(ref: str, body: Any = None, error: str | None = None, **more: Any) -> dict[str, Any]:
    return {"ref": ref, "body": body, "error": error, **more}

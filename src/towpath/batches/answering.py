"""LOCAL: some requests of a batch, asked one by one at the chat service of the settings.

Each is on record when it has been answered: whoever comes after a crash asks only what is left.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from towpath import Context, Fatal, SchemaInvalid, Transient
from towpath.batches import stored
from towpath.batches.answers import line_of
from towpath.batches.lines import lines_of
from towpath.batches.names import answers_key, shard_key
from towpath.models.chat import Chat, client_for, tokens_of
from towpath.providers import Result

ATTEMPTS = 5
_AT_ONCE = 8


@dataclass(slots=True)
class Asked:
    batch_id: str
    model: int
    shard: int
    count: int


async def answer(ctx: Context, asked: Asked) -> dict[str, int]:
    batch = await stored.find(ctx, asked.batch_id, tenant=ctx.tenant)
    chat = client_for(ctx.settings, batch.models[asked.model])
    if chat is None:
        raise Fatal(
            "LOCAL asks the chat service of the settings, and there is none",
            remedy="set TOWPATH_CHAT_URL where the workers run, then retry",
        )
    lines = [json.loads(line) async for line in lines_of(ctx.blobs, shard_key(batch.id, asked.model, asked.shard))]
    asking = _Asking(ctx, chat, len(lines))
    found = await ctx.parallel(*(asking.ask(line["custom_id"], line["body"]) for line in lines))
    kept = [line for one in found if (line := line_of(Result(**one))) is not None]
    data = b"".join(text.encode() + b"\n" for _, text in sorted(kept))
    await ctx.blobs.put(answers_key(batch.id, asked.model, asked.shard), data)
    failed = sum(one["error"] is not None for one in found)
    return {"ok": len(found) - failed, "failed": failed}


class _Asking:
    def __init__(self, ctx: Context, chat: Chat, total: int) -> None:
        self._ctx, self._chat, self._total = ctx, chat, total
        self._doors = asyncio.Semaphore(_AT_ONCE)
        self._done = 0

    async def ask(self, ref: str, body: dict[str, Any]) -> dict[str, Any]:
        async with self._doors:
            told: dict[str, Any] = await self._ctx.step("request", self._one, ref, body, key=ref)
        self._done += 1
        await self._ctx.progress(self._done, self._total)
        if self._done == self._total:
            await self._ctx.share_progress()
        return told

    async def _one(self, ref: str, body: dict[str, Any]) -> dict[str, Any]:
        """What is wrong with one request is that one's answer; what is wrong with the service is the job's failure."""
        ctx = self._ctx
        await ctx.budget(self._chat.budget)  # another job may have been told to wait
        try:
            response = await self._chat.complete(body)
        except SchemaInvalid as error:
            return _told(ref, error=str(error), code="refused")
        except Transient as error:
            if ctx.attempt < ATTEMPTS:
                raise
            return _told(ref, error=str(error), code="unavailable")
        tokens_in, tokens_out = tokens_of(response)
        await ctx.meter(model=self._chat.model, tokens_in=tokens_in, tokens_out=tokens_out)
        return _told(ref, response, tokens_in=tokens_in, tokens_out=tokens_out)


def _told(ref: str, body: Any = None, error: str | None = None, **more: Any) -> dict[str, Any]:
    return {"ref": ref, "body": body, "error": error, **more}

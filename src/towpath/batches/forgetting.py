"""What stands behind the question mark of a link is forgotten once its input was heard. Those of inputs that failed are
kept, in blobs, so that they can be heard again; they go with the batch."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from towpath import Context
from towpath.batches import stored
from towpath.batches.lines import lines_of
from towpath.batches.names import dataset_key, index_key, requests_key, results_key
from towpath.batches.records import Batch
from towpath.outbound.sources import is_address, shown


async def forget_links(ctx: Context, batch: Batch) -> None:
    failed = await failed_numbers(ctx, batch)
    await _rewrite(ctx, requests_key(batch.id), failed)
    own = [one for one in await stored.datasets(ctx, batch.tenant, batch.dataset_ids) if one.batch_id == batch.id]
    if len(batch.dataset_ids) == 1 and own and own[0].asset_id is None:
        await _rewrite(ctx, dataset_key(own[0].id), failed)


async def failed_numbers(ctx: Context, batch: Batch) -> set[int]:
    """The lines that somebody was asked to hear, and that one of the models has not."""
    found: set[int] = set()
    async with (
        aclosing(lines_of(ctx.blobs, index_key(batch.id))) as index,
        aclosing(lines_of(ctx.blobs, results_key(batch.id))) as results,
    ):
        number = -1
        async for line in index:
            number, asked = number + 1, json.loads(line)
            if "reason" in asked:
                await anext(results)
                continue
            told = [json.loads(await anext(results)) for _ in asked.get("models", batch.models)]
            if any(one["error"] is not None for one in told):
                found.add(number)
    return found


async def _rewrite(ctx: Context, key: str, failed: set[int]) -> None:
    """A list is 10,000 lines at the most."""
    lines = [line async for line in lines_of(ctx.blobs, key) if line.strip()]
    values = [_forgotten(json.loads(line), number, failed) for number, line in enumerate(lines)]
    if any(value is not None for value in values):
        kept = [line if value is None else json.dumps(value).encode() for line, value in zip(lines, values, strict=True)]
        await ctx.blobs.put(key, _joined(kept))


def _forgotten(value: Any, number: int, failed: set[int]) -> dict[str, Any] | None:
    """The line without its secret; None if it has none, or is still needed."""
    given = value.get("input") if isinstance(value, dict) else None
    if not isinstance(given, str) or not is_address(given) or "?" not in given or value.get("n", number) in failed:
        return None
    return {**value, "input": shown(given), "forgotten": True}


async def _joined(lines: list[bytes]) -> AsyncIterator[bytes]:
    for line in lines:
        yield line + b"\n"

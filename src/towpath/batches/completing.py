"""The completion of a batch: read → hold the money back → submit, or ask here → fetch → merge → clean up.

Each is recorded when it is done; what is ordered is ordered once, whoever dies in between. Large things are blobs of the
batch, which a step may write again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from towpath import App, Context, Order, Partial, ProviderJob, SchemaInvalid
from towpath.batches import estimating, openai_lines, ordering
from towpath.batches.gathering import gathered, is_gathered
from towpath.batches.handing_back import hand_back
from towpath.batches.inputs import download_all
from towpath.batches.intake import MOST_MODELS
from towpath.batches.lines import pieces_of
from towpath.batches.merging import Lost, Merging
from towpath.batches.names import (
    ANSWER,
    COMPLETION,
    LOCAL,
    QUEUE,
    file_key,
    index_key,
    requests_key,
    results_key,
    shard_key,
    work_prefix,
)
from towpath.batches.openai_lines import openai_line, written_for_openai
from towpath.batches.reading import Reader, Shard
from towpath.batches.records import Batch
from towpath.batches.staging import forget_work, results_folder
from towpath.batches.tidying import tidy_later
from towpath.providers import Limits

_FEWEST_AT_ONCE, _MOST_AT_ONCE, _MOST_BYTES = 100, 500, 16 * 1024 * 1024
"""What a child of LOCAL asks. Between two of them its slot asks nobody for a moment."""
_CHILDREN_PER_SLOT = 4
"""So many at the least where there is enough to do: then all slots end at about the same time."""
_UNLIMITED = 50_000


@dataclass(slots=True)
class Asked:
    batch_id: str


class Completing:
    """The operation, bound to its app."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def run(self, ctx: Context, asked: Asked) -> dict[str, Any] | Partial:
        batch = await ordering.batch_for(ctx, self._app, asked.batch_id)
        if is_gathered(batch):
            await gathered(self._app, ctx, batch)
        plan = await ctx.step("read", self._read, ctx, batch)
        if written_for_openai(batch):
            _refuse_unfit(plan)
            batch = replace(batch, models=tuple(plan["models"]))
        shards = [Shard(*one) for one in plan["shards"]]
        if shards and plan["estimate_cents"]:
            await ctx.spend(plan["estimate_cents"])
        rows: list[ProviderJob] = []
        if batch.provider == LOCAL:
            lost = await self._ask_here(ctx, batch, shards)
        else:
            rows = await ctx.submit(batch.provider, [_order(ctx, batch, shard, plan["output"]) for shard in shards])
            lost = await ordering.fetch_all(ctx, batch, rows, shards)
        merged = await ctx.step("merge", self._merge, ctx, batch, shards, lost)
        if written_for_openai(batch):
            await ctx.step("split", self._split, ctx, batch, merged)
        if batch.provider != LOCAL or not lost:  # a child that is requeued reads its requests again
            await ctx.step("clean up", self._clean_up, ctx, batch, rows, plan["output"])
        if shards and plan["estimate_cents"]:
            await ctx.spent(plan["estimate_cents"] if merged["cost_cents"] is None else merged["cost_cents"])
        if is_gathered(batch):
            await hand_back(self._app, ctx, batch)
            if not plan["count"]:
                return {"batch_id": batch.id, "withdrawn": True}
        return ordering.outcome(batch, plan, merged, left_to_children=batch.provider == LOCAL and bool(lost))

    async def _read(self, ctx: Context, batch: Batch) -> dict[str, Any]:
        limits, output = await self._place(ctx, batch)
        prices = await self._app.prices.get()
        with tempfile.TemporaryDirectory(prefix="towpath-") as folder:
            given = Path(folder) / "input"
            given.touch()
            await download_all(ctx, batch.tenant, batch.dataset_ids, given)
            if batch.provider == LOCAL:
                limits = local_limits(await ctx.in_thread(_lines_in, given), await self._slots())
            reader = _reader_for(batch, Path(folder), limits)
            read = await ctx.in_thread(reader.read, given)
            await ctx.blobs.delete_prefix(work_prefix(batch.id))  # of an attempt that died
            await ctx.blobs.put(index_key(batch.id), pieces_of(reader.index))
            await ctx.blobs.put(requests_key(batch.id), pieces_of(reader.requests))
            for shard in read.shards:
                await ctx.blobs.put(shard_key(batch.id, shard.model, shard.shard), pieces_of(reader.shard_path(shard)))
        cents = estimating.cents_for(read.models, read.tokens, prices)
        return await ordering.tell_read(ctx, batch, read, cents) | {"output": output}

    async def _place(self, ctx: Context, batch: Batch) -> tuple[Limits, str | None]:
        """How much fits into an order, and where its results are to be written, if the provider wants to be told."""
        if batch.provider == LOCAL:
            return Limits(), None
        provider = ordering.provider_of(self._app, batch)
        output = await results_folder(ctx, batch, provider)
        if output is not None:
            await ctx.transact(lambda tx: tidy_later(tx, batch))
        return Limits(provider.limits.count or _UNLIMITED, provider.limits.bytes), output

    async def _slots(self) -> int:
        """Of all workers that may take children of this batch."""
        here = [one for one in await self._app.workers() if one.stopped_at is None and QUEUE in one.queues]
        return max(1, sum(one.concurrency for one in here))

    async def _clean_up(self, ctx: Context, batch: Batch, rows: Sequence[ProviderJob], output: str | None) -> None:
        await ordering.clean_up(ctx, batch, rows)
        if output is not None:
            await forget_work(ctx.settings, ctx.blobs, batch.id)

    async def _ask_here(self, ctx: Context, batch: Batch, shards: Sequence[Shard]) -> list[Lost]:
        """Orders that this installation's own workers do, as children of the job."""
        await ctx.step("count", self._count, ctx, shards)  # once: when they have ended, what they did is not undone
        return await ordering.children_lost(ctx, ANSWER, shards, [_child(batch, shard) for shard in shards])

    async def _count(self, ctx: Context, shards: Sequence[Shard]) -> None:
        await ctx.progress(0, sum(shard.count for shard in shards))

    async def _merge(self, ctx: Context, batch: Batch, shards: Sequence[Shard], lost: Sequence[Lost]) -> dict[str, Any]:
        merging = Merging(ctx.blobs, batch, [(shard.model, shard.shard) for shard in shards], lost)
        stored_as = await ctx.blobs.put(results_key(batch.id), merging.pieces())
        for tally in merging.tallies:
            if tally.ok and batch.provider != LOCAL:  # those were metered one by one
                await ctx.meter(model=tally.model, tokens_in=tally.tokens_in, tokens_out=tally.tokens_out)
        return await ordering.tell_merged(ctx, self._app, batch, shards, merging, stored_as.size)

    async def _split(self, ctx: Context, batch: Batch, merged: dict[str, Any]) -> None:
        """The results as the two files that OpenAI makes of them; one that would be empty is not there."""
        for kind, count in ((openai_lines.OUTPUT, merged["ok"]), (openai_lines.ERROR, merged["failed"])):
            if count:
                await ctx.blobs.put(file_key(batch.id, kind), openai_lines.answered(ctx.blobs, batch, kind))


def local_limits(lines: int, slots: int) -> Limits:
    each = -(-lines // (slots * _CHILDREN_PER_SLOT))
    return Limits(min(max(each, _FEWEST_AT_ONCE), _MOST_AT_ONCE), _MOST_BYTES)


def _lines_in(path: Path) -> int:
    with path.open("rb") as file:
        return sum(piece.count(b"\n") for piece in iter(lambda: file.read(1024 * 1024), b""))


def _reader_for(batch: Batch, folder: Path, limits: Limits) -> Reader:
    if written_for_openai(batch):
        return Reader(folder, (), limits, openai_line, MOST_MODELS)
    return Reader(folder, batch.models, limits)


def _refuse_unfit(plan: dict[str, Any]) -> None:
    """As OpenAI does it: all of a file, or nothing of it."""
    if not plan["count"]:
        raise SchemaInvalid("there are no requests in the file", remedy="send at least one")
    if plan["invalid"]:
        wrong = f"{plan['invalid']:,} of its {plan['count']:,} lines cannot be asked"
        raise SchemaInvalid(f"{wrong}: {plan['first_problem']}", remedy="put them right, and send the file again")


def _order(ctx: Context, batch: Batch, shard: Shard, output: str | None) -> Order:
    options = {"shard": shard.shard} | ({"window": batch.settings["window"]} if batch.settings.get("window") else {})
    key = shard_key(batch.id, shard.model, shard.shard)
    callback = ordering.callback_of(ctx.settings, batch.provider)
    model = batch.models[shard.model]
    return Order("", COMPLETION, model, requests=key, count=shard.count, options=options, output=output, callback=callback)


def _child(batch: Batch, shard: Shard) -> dict[str, Any]:
    return {"batch_id": batch.id, "model": shard.model, "shard": shard.shard, "count": shard.count}

"""The transcription of a batch: read and stage → submit, or hear here → fetch → merge → clean up.

Each is recorded when it is done; what is ordered is ordered once, whoever dies in between. What is staged goes with the
batch's work, however the batch ends: see tidying.py.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from towpath import App, ConfigurationError, Context, Fatal, Order, Partial, ProviderJob
from towpath.batches import ordering
from towpath.batches.forgetting import forget_links
from towpath.batches.input_list import Given, check_all, read_lines
from towpath.batches.inputs import download_all
from towpath.batches.lines import lines_of
from towpath.batches.merging import Lost, Merging
from towpath.batches.names import (
    HEAR,
    LOCAL,
    TRANSCRIPTION,
    document_key,
    heard_key,
    index_key,
    requests_key,
    results_key,
)
from towpath.batches.reading import SHOWN, Read, Shard
from towpath.batches.records import Batch
from towpath.batches.speech_results import document, entry_line
from towpath.batches.staging import forget_work, opened_staging
from towpath.batches.tidying import tidy_later
from towpath.providers import Input as OrderInput
from towpath.providers import Limits, Provider

_OPTIONS = ("locale", "diarization", "word_timestamps")


@dataclass(slots=True)
class Asked:
    batch_id: str


class Transcribing:
    """The operation, bound to its app."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def run(self, ctx: Context, asked: Asked) -> dict[str, Any] | Partial:
        batch = await ordering.batch_for(ctx, self._app, asked.batch_id)
        plan = await ctx.step("read", self._read, ctx, batch)
        shards = [Shard(*one) for one in plan["shards"]]
        rows: list[ProviderJob] = []
        lost: list[Lost] = []
        if batch.provider == LOCAL:
            lost = await self._hear_here(ctx, batch, shards)
        elif shards:
            rows = await ctx.submit(batch.provider, await _orders(ctx, batch, plan, shards))
            if len(rows) < len(shards):
                raise Fatal("what it had prepared was cleaned away when it ended", remedy="retry the batch, not its job")
            lost = await ordering.fetch_all(ctx, batch, rows, shards)
        merged = await ctx.step("merge", self._merge, ctx, batch, shards, lost)
        if batch.provider != LOCAL or not lost:  # a child that is requeued reads its input again
            await ctx.step("clean up", self._clean_up, ctx, batch, rows)
        return ordering.outcome(batch, plan, merged, left_to_children=batch.provider == LOCAL and bool(lost))

    async def _read(self, ctx: Context, batch: Batch) -> dict[str, Any]:
        """What was staged by an attempt that died is used again."""
        with tempfile.TemporaryDirectory(prefix="towpath-") as folder:
            listed = Path(folder) / "input"
            listed.touch()
            await download_all(ctx, batch.tenant, batch.dataset_ids, listed)
            found = await ctx.in_thread(read_lines, listed, batch.models)
        await check_all(ctx, batch.tenant, found)
        output, most = None, 1
        if batch.provider != LOCAL:
            await ctx.transact(lambda tx: tidy_later(tx, batch))
            provider = ordering.provider_of(self._app, batch)
            most = provider.limits.count
            async with opened_staging(ctx, batch, provider) as staging:
                staging.check(found)
                output = staging.results_folder()
                await _check_options(provider, batch, output)
                await staging.place_all(found)
            _refuse_unfit(batch, found, provider.limits)
        heard = [one for one in found if one.reason is None]
        await ctx.blobs.put(index_key(batch.id), _lines(_indexed(one) for one in found))
        await ctx.blobs.put(requests_key(batch.id), _lines({"n": one.number, "input": one.input} for one in heard))
        await ctx.blobs.put(heard_key(batch.id), _lines(_as_heard(one) for one in heard))
        plan = await ordering.tell_read(ctx, batch, _told(batch, found, most), None)
        return plan | {"output": output}

    async def _hear_here(self, ctx: Context, batch: Batch, shards: Sequence[Shard]) -> list[Lost]:
        """A child for each input: it is told where in the list its input stands."""
        places, start = [], 0
        if shards:
            async for line in lines_of(ctx.blobs, heard_key(batch.id)):
                places.append([start, start + len(line)])
                start += len(line) + 1
        parts = zip(shards, places, strict=True)
        asked = [{"batch_id": batch.id, "shard": shard.shard, "at": place} for shard, place in parts]
        return await ordering.children_lost(ctx, HEAR, shards, asked)

    async def _merge(self, ctx: Context, batch: Batch, shards: Sequence[Shard], lost: Sequence[Lost]) -> dict[str, Any]:
        places = [(shard.model, shard.shard) for shard in shards]
        merging = Merging(ctx.blobs, batch, places, lost, entry_line(batch.provider))
        await ctx.blobs.put(results_key(batch.id), merging.pieces())
        stored_as = await ctx.blobs.put(document_key(batch.id), document(ctx.blobs, batch))
        return await ordering.tell_merged(ctx, self._app, batch, shards, merging, stored_as.size)

    async def _clean_up(self, ctx: Context, batch: Batch, rows: Sequence[ProviderJob]) -> None:
        await forget_links(ctx, batch)
        await ordering.clean_up(ctx, batch, rows)
        await forget_work(ctx.settings, ctx.blobs, batch.id)


async def _check_options(provider: Provider, batch: Batch, output: str | None) -> None:
    """What the provider has no word for, or misses, is said before anything is fetched, by an input that stands for all."""
    scheme = min(provider.reads, default="")
    stands_for_all = OrderInput("r0", "input.wav", f"{scheme}://input/input.wav" if scheme else None, "input")
    try:
        for model in batch.models:
            await provider.check(_order(batch, None, model, [stands_for_all], output))
    except ConfigurationError as error:
        raise Fatal(str(error), remedy="set up the provider where the workers run, then retry") from error


def _refuse_unfit(batch: Batch, found: Sequence[Given], limits: Limits) -> None:
    """What the provider would refuse a whole order for: files that are too large, and two of the same address."""
    seen: dict[str, int] = {}
    for one in found:
        if one.reason is not None:
            continue
        if limits.bytes and one.size > limits.bytes:
            one.reason = f"it has {one.size:,} bytes, and {batch.provider} takes {limits.bytes:,} at most"
        elif one.uri is not None:
            first = seen.setdefault(one.uri.partition("?")[0], one.number)
            if first != one.number:
                one.reason = f"its address is that of line {first + 1} but for what follows the question mark"


def _told(batch: Batch, found: Sequence[Given], most: int) -> Read:
    """What there is to do. An order has at most so many inputs, all for one model."""
    read = Read(count=len(found), models=list(batch.models))
    for one in found:
        if one.reason is not None:
            read.invalid += 1
            if len(read.invalid_inputs) < SHOWN:
                told = {"line": one.number + 1, "custom_id": None, "reason": one.reason} | one.as_told()
                read.invalid_inputs.append(told)
    for place in range(len(batch.models)):
        heard = [one for one in found if one.reason is None and place in one.parts]
        for number, start in enumerate(range(0, len(heard), most or len(heard))):
            part = heard[start : start + (most or len(heard))]
            size = sum(one.size for one in part)
            read.shards.append(Shard(place, number, part[0].number, part[-1].number, len(part), size))
    return read


async def _orders(ctx: Context, batch: Batch, plan: dict[str, Any], shards: Sequence[Shard]) -> list[Order]:
    """The same whenever they are asked for; none once what was staged is gone: then those that were sent are on record."""
    if await ctx.blobs.head(heard_key(batch.id)) is None:
        return []
    heard = [json.loads(line) async for line in lines_of(ctx.blobs, heard_key(batch.id))]
    orders = []
    for shard in shards:
        own = [one for one in heard if shard.first <= one["n"] <= shard.last and shard.model in one["parts"]]
        inputs = [OrderInput(f"r{one['n']}", one["name"], one["uri"], one["blob"], one["size"], one["shown"]) for one in own]
        order = _order(batch, shard.shard, batch.models[shard.model], inputs, plan["output"])
        orders.append(replace(order, callback=ordering.callback_of(ctx.settings, batch.provider)))
    return orders


def _order(batch: Batch, shard: int | None, model: str, inputs: Sequence[OrderInput], output: str | None) -> Order:
    options = {name: batch.settings[name] for name in _OPTIONS if batch.settings.get(name)}
    options |= {} if shard is None else {"shard": shard}
    return Order("", TRANSCRIPTION, model, tuple(inputs), None, len(inputs), options, output)


def _indexed(one: Given) -> dict[str, Any]:
    told = one.as_told()
    if one.reason is not None:
        return told | {"reason": one.reason}
    return told | ({"models": one.parts} if one.models is not None else {})


def _as_heard(one: Given) -> dict[str, Any]:
    return {
        "n": one.number, "name": one.name, "shown": one.shown, "input": one.input, "uri": one.uri, "blob": one.blob,
        "size": one.size, "parts": one.parts,
    }  # fmt: skip


async def _lines(told: Iterable[dict[str, Any]]) -> AsyncIterator[bytes]:
    for one in told:
        yield json.dumps(one).encode() + b"\n"

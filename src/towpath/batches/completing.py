"""The completion of a batch: read → hold the money back → submit, or ask here → fetch → merge → clean up.

Each is recorded when it is done; what is ordered is ordered once, whoever dies in between. Large things are blobs of the
batch, which a step may write again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from towpath import (
    App,
    ChildrenFailed,
    ConfigurationError,
    Context,
    Fatal,
    Order,
    Partial,
    Price,
    ProviderJob,
    ProviderState,
    SchemaInvalid,
    Transaction,
    to_json,
)
from towpath.batches import estimating, openai_lines, stored
from towpath.batches.answers import Answers
from towpath.batches.gathering import gathered, is_gathered
from towpath.batches.handing_back import hand_back
from towpath.batches.inputs import download_all
from towpath.batches.intake import MOST_MODELS
from towpath.batches.lines import pieces_of
from towpath.batches.merging import Lost, Merging, Tally
from towpath.batches.names import (
    ANSWER,
    COMPLETION,
    KIND,
    LOCAL,
    answers_key,
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
from towpath.batches.status import COMPLETED, FAILED, of_completion, warning_of
from towpath.providers import Limits

LOCAL_LIMITS = Limits(count=100, bytes=16 * 1024 * 1024)
_UNLIMITED = 50_000
_HAVE_RESULTS = frozenset({ProviderState.COMPLETED, ProviderState.PARTIAL, ProviderState.CANCELLED})


@dataclass(slots=True)
class Asked:
    batch_id: str


class Completing:
    """The operation, bound to its app."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def run(self, ctx: Context, asked: Asked) -> dict[str, Any] | Partial:
        batch = await _batch_for(ctx, asked.batch_id)
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
            rows = await ctx.submit(batch.provider, [_order(batch, shard) for shard in shards])
            for row, shard in zip(rows, shards, strict=True):
                if row.state in _HAVE_RESULTS:
                    await ctx.step("fetch", self._fetch, ctx, batch, row, shard, key=str(row.part))
            lost = [_lost(shard, row.error or _ended(row)) for row, shard in zip(rows, shards, strict=True)]
        merged = await ctx.step("merge", self._merge, ctx, batch, shards, lost)
        if written_for_openai(batch):
            await ctx.step("split", self._split, ctx, batch, merged)
        if batch.provider != LOCAL or not lost:  # a child that is requeued reads its requests again
            await ctx.step("clean up", self._clean_up, ctx, batch, rows)
        if shards and plan["estimate_cents"]:
            await ctx.spent(plan["estimate_cents"] if merged["cost_cents"] is None else merged["cost_cents"])
        if is_gathered(batch):
            await hand_back(self._app, ctx, batch)
            if not plan["count"]:
                return {"batch_id": batch.id, "withdrawn": True}
        return _outcome(batch, plan, merged, left_to_children=batch.provider == LOCAL and bool(lost))

    async def _read(self, ctx: Context, batch: Batch) -> dict[str, Any]:
        limits = self._limits(batch)
        prices = await self._app.prices.get()
        with tempfile.TemporaryDirectory(prefix="towpath-") as folder:
            given = Path(folder) / "input"
            given.touch()
            await download_all(ctx, batch.tenant, batch.dataset_ids, given)
            reader = _reader_for(batch, Path(folder), limits)
            read = await ctx.in_thread(reader.read, given)
            await ctx.blobs.delete_prefix(work_prefix(batch.id))  # of an attempt that died
            await ctx.blobs.put(index_key(batch.id), pieces_of(reader.index))
            await ctx.blobs.put(requests_key(batch.id), pieces_of(reader.requests))
            for shard in read.shards:
                await ctx.blobs.put(shard_key(batch.id, shard.model, shard.shard), pieces_of(reader.shard_path(shard)))
        cents = estimating.cents_for(read.models, read.tokens, prices)

        async def unit(tx: Transaction) -> None:
            await tx.change(
                "batch_was_read", id=batch.id, count=read.count, invalid=read.invalid, estimate_cents=cents,
                invalid_inputs=to_json(read.invalid_inputs), models=to_json(read.models),
            )  # fmt: skip
            await tx.tell(KIND, batch.id, tenant=batch.tenant)

        await ctx.transact(unit)
        shards = [[one.model, one.shard, one.first, one.last, one.count, one.bytes] for one in read.shards]
        first = read.invalid_inputs[0]["reason"] if read.invalid_inputs else None
        return {
            "count": read.count, "invalid": read.invalid, "first_problem": first, "shards": shards, "estimate_cents": cents,
            "models": read.models,
        }  # fmt: skip

    def _limits(self, batch: Batch) -> Limits:
        if batch.provider == LOCAL:
            return LOCAL_LIMITS
        try:
            limits = self._app.providers.get(batch.provider).limits
        except ConfigurationError as error:
            raise Fatal(str(error), remedy="set up the provider where the workers run, then retry") from error
        return Limits(limits.count or _UNLIMITED, limits.bytes)

    async def _ask_here(self, ctx: Context, batch: Batch, shards: Sequence[Shard]) -> list[Lost]:
        """Orders that this installation's own workers do, as children of the job."""
        await ctx.step("count", self._count, ctx, shards)  # once: when they have ended, what they did is not undone
        children = await ctx.gather(ANSWER, [_child(batch, shard) for shard in shards], partial_ok=True)
        lost, number = [], 0
        async for child in children:
            if child.error is not None or not child.result_json:
                lost.append(_lost(shards[number], (child.error or {}).get("message") or f"it was {child.state.value}"))
            number += 1
        return lost

    async def _count(self, ctx: Context, shards: Sequence[Shard]) -> None:
        await ctx.progress(0, sum(shard.count for shard in shards))

    async def _fetch(self, ctx: Context, batch: Batch, row: ProviderJob, shard: Shard) -> None:
        with tempfile.TemporaryDirectory(prefix="towpath-") as folder, closing(Answers(Path(folder) / "answers")) as answers:
            try:
                async with aclosing(ctx.results_of(row)) as results:
                    await answers.take(results)
            except (SchemaInvalid, Fatal):
                if row.state is not ProviderState.CANCELLED:  # nobody promises results of those
                    raise
            await ctx.blobs.put(answers_key(batch.id, shard.model, shard.shard), answers.pieces())

    async def _merge(self, ctx: Context, batch: Batch, shards: Sequence[Shard], lost: Sequence[Lost]) -> dict[str, Any]:
        merging = Merging(ctx.blobs, batch, [(shard.model, shard.shard) for shard in shards], lost)
        stored_as = await ctx.blobs.put(results_key(batch.id), merging.pieces())
        tallies = merging.tallies
        prices = await self._app.prices.get()
        cents = estimating.cost_of(tallies, prices)
        for tally in tallies:
            if tally.ok and batch.provider != LOCAL:  # those were metered one by one
                await ctx.meter(model=tally.model, tokens_in=tally.tokens_in, tokens_out=tally.tokens_out)
        told: dict[str, Any] = {"ok": sum(tally.ok for tally in tallies), "failed": sum(tally.failed for tally in tallies)}
        told |= {"cost_cents": cents, "result_bytes": stored_as.size}

        async def unit(tx: Transaction) -> None:
            await tx.change("batch_has_results", id=batch.id, **told)
            await tx.tell(KIND, batch.id, tenant=batch.tenant)

        await ctx.transact(unit)
        asked = {tally.model: tally.status for tally in tallies if tally.ok or tally.failed}
        orders = [_told_of(shard, merging.orders[shard.model, shard.shard], prices) for shard in shards]
        return told | {"models": asked, "first_error": merging.first_error, "orders": orders}

    async def _split(self, ctx: Context, batch: Batch, merged: dict[str, Any]) -> None:
        """The results as the two files that OpenAI makes of them; one that would be empty is not there."""
        for kind, count in ((openai_lines.OUTPUT, merged["ok"]), (openai_lines.ERROR, merged["failed"])):
            if count:
                await ctx.blobs.put(file_key(batch.id, kind), openai_lines.answered(ctx.blobs, batch, kind))

    async def _clean_up(self, ctx: Context, batch: Batch, rows: Sequence[ProviderJob]) -> None:
        """Here and at the provider. What the provider will not have removed goes by itself one day, and fails nothing."""
        for row in rows:
            try:
                await ctx.clean_up(row)
            except Exception as error:
                await ctx.emit("batch.left_behind", str(error)[:500], level="warning", fields={"provider": row.provider})
        await ctx.blobs.delete_prefix(work_prefix(batch.id))


async def _batch_for(ctx: Context, batch_id: str) -> Batch:
    try:
        return await stored.find(ctx, batch_id, tenant=ctx.tenant)
    except stored.BatchNotFound as error:
        raise Fatal(str(error)) from None


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


def _order(batch: Batch, shard: Shard) -> Order:
    options = {"shard": shard.shard} | ({"window": batch.settings["window"]} if batch.settings.get("window") else {})
    key = shard_key(batch.id, shard.model, shard.shard)
    return Order("", COMPLETION, batch.models[shard.model], requests=key, count=shard.count, options=options)


def _told_of(shard: Shard, tally: Tally, prices: Mapping[str, Price]) -> dict[str, Any]:
    """What came of one order, for people to read beside what its provider said."""
    return {"ok": tally.ok, "failed": shard.count - tally.ok, "cost_cents": estimating.cost_of([tally], prices)}


def _child(batch: Batch, shard: Shard) -> dict[str, Any]:
    return {"batch_id": batch.id, "model": shard.model, "shard": shard.shard, "count": shard.count}


def _lost(shard: Shard, why: str) -> Lost:
    return Lost(shard.model, shard.first, shard.last, why)


def _ended(row: ProviderJob) -> str:
    return f"{row.provider} has no result of it" if row.state in _HAVE_RESULTS else f"{row.provider} says {row.status}"


def _outcome(
    batch: Batch, plan: dict[str, Any], merged: dict[str, Any], *, left_to_children: bool
) -> dict[str, Any] | Partial:
    told = {"batch_id": batch.id, "invalid": plan["invalid"]} | {name: merged[name] for name in ("ok", "failed", "orders")}
    if not plan["count"]:
        raise SchemaInvalid("there are no requests in it", remedy="send at least one")
    if not plan["shards"]:
        raise SchemaInvalid(f"none of its {plan['count']} requests can be asked: {plan['first_problem']}")
    status = of_completion(list(merged["models"].values()))
    if status == FAILED:
        why = f"none of its requests was answered: {merged['first_error']}"
        if left_to_children:
            raise ChildrenFailed(why)  # they are in the inbox, and whoever requeues them there brings it back
        raise Fatal(why, remedy="its results have the reason of each")
    if status == COMPLETED and not (plan["invalid"] and batch.settings.get("strict_inputs")):
        return told
    return Partial(told, warning_of(merged["failed"], plan["invalid"]))

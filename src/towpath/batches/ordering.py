"""What batches of every kind have in common: what was read, fetching, what was merged, cleaning up, the outcome."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

from towpath import (
    App,
    ChildrenFailed,
    ConfigurationError,
    Context,
    Fatal,
    Partial,
    Price,
    ProviderJob,
    ProviderState,
    SchemaInvalid,
    Settings,
    Transaction,
    to_json,
)
from towpath.batches import estimating, stored
from towpath.batches.answers import Answers
from towpath.batches.merging import Lost, Merging, Tally
from towpath.batches.names import KIND, OPERATION_OF, answers_key, work_prefix
from towpath.batches.reading import Read, Shard
from towpath.batches.records import Batch
from towpath.batches.status import COMPLETED, FAILED, of_completion, warning_of, words_of
from towpath.providers import Provider

HAVE_RESULTS = frozenset({ProviderState.COMPLETED, ProviderState.PARTIAL, ProviderState.CANCELLED})


async def batch_for(ctx: Context, app: App, batch_id: str) -> Batch:
    """Of the job's own tenant, and only for the first job that was made for it: whatever is enqueued a second time orders
    nothing."""
    try:
        batch = await stored.find(ctx, batch_id, tenant=ctx.tenant)
    except stored.BatchNotFound as error:
        raise Fatal(str(error)) from None
    jobs = (await app.subjects.jobs(KIND, [batch.id]))[batch.id]
    known = [job.id for job in jobs if job.operation in OPERATION_OF.values()]
    known += [batch.ended.job_id] if batch.ended is not None else []
    if known and min(known) != ctx.id:
        raise Fatal(
            f"the job {min(known)} was made for this batch before, and this one does nothing",
            remedy="delete this job; what was not answered is asked again by retrying the batch",
        )
    return batch


def provider_of(app: App, batch: Batch) -> Provider:
    try:
        return app.providers.get(batch.provider)
    except ConfigurationError as error:
        raise Fatal(str(error), remedy="set up the provider where the workers run, then retry") from error


def callback_of(settings: Settings, provider: str) -> str | None:
    """Where it may tell that a job has ended: this server, if people have said where it is."""
    if not settings.base_url.startswith("https://"):
        return None
    return f"{settings.base_url.rstrip('/')}/api/providers/{provider}/callback"


async def tell_read(ctx: Context, batch: Batch, read: Read, cents: float | None) -> dict[str, Any]:
    """Puts down how much there is to do; answers it as the step's record."""

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


async def fetch(ctx: Context, batch: Batch, row: ProviderJob, shard: Shard) -> None:
    with tempfile.TemporaryDirectory(prefix="towpath-") as folder, closing(Answers(Path(folder) / "answers")) as answers:
        try:
            async with aclosing(ctx.results_of(row)) as results:
                await answers.take(results)
        except (SchemaInvalid, Fatal):
            if row.state is not ProviderState.CANCELLED:  # nobody promises results of those
                raise
        await ctx.blobs.put(answers_key(batch.id, shard.model, shard.shard), answers.pieces())


async def fetch_all(ctx: Context, batch: Batch, rows: Sequence[ProviderJob], shards: Sequence[Shard]) -> list[Lost]:
    """Of every order what it has; answers which came to nothing, as far as they did."""
    for row, shard in zip(rows, shards, strict=True):
        if row.state in HAVE_RESULTS:
            await ctx.step("fetch", fetch, ctx, batch, row, shard, key=str(row.part))
    return [lost_of(shard, row.error or _ended(row)) for row, shard in zip(rows, shards, strict=True)]


async def tell_merged(
    ctx: Context, app: App, batch: Batch, shards: Sequence[Shard], merging: Merging, size: int
) -> dict[str, Any]:
    """Puts down what became of it, once its results of so many bytes are stored; answers it as the step's record."""
    tallies = merging.tallies
    prices = await app.prices.get()
    told: dict[str, Any] = {"ok": sum(tally.ok for tally in tallies), "failed": sum(tally.failed for tally in tallies)}
    told |= {"cost_cents": estimating.cost_of(tallies, prices), "result_bytes": size}

    async def unit(tx: Transaction) -> None:
        await tx.change("batch_has_results", id=batch.id, **told)
        await tx.tell(KIND, batch.id, tenant=batch.tenant)

    await ctx.transact(unit)
    asked = [tally.status for tally in tallies if tally.ok or tally.failed]
    orders = [_told_of(shard, merging.orders[shard.model, shard.shard], prices) for shard in shards]
    return told | {"statuses": asked, "first_error": merging.first_error, "orders": orders}


async def clean_up(ctx: Context, batch: Batch, rows: Sequence[ProviderJob]) -> None:
    """Here and at the provider. What the provider will not have removed goes by itself one day, and fails nothing."""
    for row in rows:
        try:
            await ctx.clean_up(row)
        except Exception as error:
            await ctx.emit("batch.left_behind", str(error)[:500], level="warning", fields={"provider": row.provider})
    await ctx.blobs.delete_prefix(work_prefix(batch.id))


def lost_of(shard: Shard, why: str) -> Lost:
    return Lost(shard.model, shard.first, shard.last, why)


def outcome(
    batch: Batch, plan: dict[str, Any], merged: dict[str, Any], *, left_to_children: bool
) -> dict[str, Any] | Partial:
    """What the job returns, or raises: the status of the batch is told from it."""
    words = words_of(batch.task_type)
    told = {"batch_id": batch.id, "invalid": plan["invalid"]} | {name: merged[name] for name in ("ok", "failed", "orders")}
    if not plan["count"]:
        raise SchemaInvalid(f"there are no {words.things} in it", remedy="send at least one")
    if not plan["shards"]:
        raise SchemaInvalid(f"none of its {plan['count']} {words.things} can be {words.asked}: {plan['first_problem']}")
    status = of_completion(merged["statuses"])
    if status == FAILED:
        why = f"none of its {words.things} was {words.answered}: {merged['first_error']}"
        if left_to_children:
            raise ChildrenFailed(why)  # they are in the inbox, and whoever requeues them there brings it back
        raise Fatal(why, remedy="its results have the reason of each")
    if status == COMPLETED and not (plan["invalid"] and batch.settings.get("strict_inputs")):
        return told
    return Partial(told, warning_of(merged["failed"], plan["invalid"], batch.task_type))


def _told_of(shard: Shard, tally: Tally, prices: Mapping[str, Price]) -> dict[str, Any]:
    """What came of one order, for people to read beside what its provider said."""
    return {"ok": tally.ok, "failed": shard.count - tally.ok, "cost_cents": estimating.cost_of([tally], prices)}


def _ended(row: ProviderJob) -> str:
    return f"{row.provider} has no result of it" if row.state in HAVE_RESULTS else f"{row.provider} says {row.status}"


async def children_lost(ctx: Context, operation: str, shards: Sequence[Shard], payloads: Sequence[Any]) -> list[Lost]:
    """Orders that this installation's own workers do, as children of the job; answers which of them came to nothing."""
    children = await ctx.gather(operation, payloads, partial_ok=True)
    lost, number = [], 0
    async for child in children:
        if child.error is not None or not child.result_json:
            lost.append(lost_of(shards[number], (child.error or {}).get("message") or f"it was {child.state.value}"))
        number += 1
    return lost

"""`ctx.submit`: orders at a batch provider, each started at most once, and waited for without holding a slot.

What must not happen is that a job is paid for twice because somebody died in between. So every order is on record, with
the key that the provider is told, before anything is sent; that the call has begun is on record before it begins; and the
provider's id is written down the moment it is known. Whoever comes after a crash sees how far it was:

| on record              | what may be at the provider | what is done                                              |
|------------------------|-----------------------------|-----------------------------------------------------------|
| intended               | nothing that costs          | it is sent                                                |
| calling, not long ago  | perhaps the job             | wait: the call may still be on its way                    |
| calling, longer ago    | the job, or nothing         | ask the provider for the key: adopt, or send again        |
|   … who cannot say (C) |                             | `unknown`: a person adopts it by its id or sends it again |
| submitted              | the job                     | it is polled                                              |
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from towpath.core.encoding import encode, plain
from towpath.core.errors import ConfigurationError, Fatal, RateLimited, SchemaInvalid, Transient
from towpath.core.failpoints import reach
from towpath.core.ids import uuid7
from towpath.core.provider_jobs import CALL_GRACE, ProviderJob, ProviderState
from towpath.core.reactions import message_of
from towpath.engine.polling import polling_of
from towpath.engine.providers import BlobFiles, as_json, forget_inputs, holds_secrets, inputs_of, order_of
from towpath.engine.running.waits import full_name
from towpath.engine.values import blob_prefix
from towpath.providers import Grade, Order, Provider, Result
from towpath.store import journal, provider_journal

if TYPE_CHECKING:
    from towpath.core.records import Step
    from towpath.engine.running.context import Context
    from towpath.store.contract import Tx

_CALLS_AT_ONCE = 4
_SHARD = "shard"


async def submit(ctx: Context, provider_name: str, orders: Sequence[Order], key: str | None) -> list[ProviderJob]:
    name = full_name(f"submit {provider_name}", key)
    found = (await ctx.memory()).use(name, "submit")
    if found is not None and found.done:
        return await _rows(ctx, name)
    shards = [int(order.options.get(_SHARD, 0)) for order in orders]
    orders = [_without_shard(order) for order in orders]
    provider = await _checked(ctx, provider_name, orders)
    step, rows = await _intend(ctx, provider, name, orders, shards) if found is None else (found, await _rows(ctx, name))
    if not rows:
        if orders:
            raise Fatal("its orders are no longer on record", remedy="look at the provider, then enqueue it anew")
        return []
    doors = asyncio.Semaphore(_CALLS_AT_ONCE)
    outcomes = await asyncio.gather(*(_bring_on(ctx, provider, row, doors) for row in rows), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return await _ended_or_wait(ctx, name, step)


async def _checked(ctx: Context, provider_name: str, orders: Sequence[Order]) -> Provider:
    """What is missing here is said before anything is written or sent, and trying again does not bring it."""
    try:
        provider = ctx.services.providers.get(provider_name)
        for order in orders:
            await provider.check(order)
    except ConfigurationError as error:
        raise Fatal(str(error), remedy="set up the provider where the workers run, then requeue") from error
    return provider


async def _rows(ctx: Context, name: str) -> list[ProviderJob]:
    return await ctx.services.store.read(lambda tx: provider_journal.of_step(tx, ctx.id, name))


async def _intend(
    ctx: Context, provider: Provider, name: str, orders: Sequence[Order], shards: Sequence[int]
) -> tuple[Step, list[ProviderJob]]:
    rows = []
    for part, (order, shard) in enumerate(zip(orders, shards, strict=True)):
        row_id = uuid7()
        placed = await _placed(ctx, order, f"{blob_prefix(ctx.id)}/order-{row_id}")
        rows.append(
            ProviderJob(row_id, ctx.id, name, part, ctx.tenant, provider.name, order.model, shard, f"tow-{row_id}", placed)
        )
    return await ctx.services.store.run(lambda tx: provider_journal.intend(tx, ctx.id, ctx.fence, name, rows))


async def _placed(ctx: Context, order: Order, key: str) -> str:
    """The order as its row has it. Many inputs, and links that open them, are a blob beside it."""
    inputs: Any = inputs_of(order)
    text = encode(inputs, what="the inputs of an order")
    if inputs and (holds_secrets(order) or not ctx.values.small(text)):
        inputs = await ctx.values.apart(text, f"{key}-inputs")
    return await ctx.values.place(encode(as_json(order, inputs), what="an order"), key)


def _without_shard(order: Order) -> Order:
    """Which part of a larger whole it is, is said of its row, and is nothing to its provider."""
    return replace(order, options={name: value for name, value in order.options.items() if name != _SHARD})


async def _bring_on(ctx: Context, provider: Provider, row: ProviderJob, doors: asyncio.Semaphore) -> None:
    """Takes one order as far as it can be taken now."""
    async with doors:
        order = await order_of(ctx.values, row)
        if row.state is ProviderState.CALLING:
            row = await _resolve(ctx, provider, row, order)
        if row.state is ProviderState.INTENDED:
            await _send(ctx, provider, row, order)


async def _send(ctx: Context, provider: Provider, row: ProviderJob, order: Order) -> None:
    limit = provider.submit_seconds
    budget = f"provider:{row.provider}"
    await ctx.budget(budget)
    called = False
    try:
        prepared = row.prepared
        if row.prepared_json is not None and provider.prepares_again:
            await provider.prepare(order, BlobFiles(ctx.blobs))
        elif row.prepared_json is None:
            prepared = dict(await provider.prepare(order, BlobFiles(ctx.blobs)))
            await _note(ctx, "note_prepared", id=row.id, prepared=encode(prepared, what="what was prepared"))
            await reach("submit.prepared")
        await _note_calling(ctx, row)
        called = True
        await reach("submit.calling")
        async with asyncio.timeout(limit):
            external_id = await provider.submit(order, prepared)
        await reach("submit.accepted")
        _check_id(row, external_id)
    except TimeoutError:
        raise Transient(f"{row.provider} did not answer within {limit:g} s") from None
    except RateLimited as error:
        if called:
            await _note(ctx, "note_not_submitted", id=row.id, states=[ProviderState.CALLING.value])
        error.budget = error.budget or budget
        raise
    except (SchemaInvalid, Fatal) as error:
        text = message_of(error)
        await ctx.services.store.run(lambda tx: provider_journal.record_refused(tx, row, text))
        return
    await _submitted(ctx, row, external_id, "SUBMITTED", "submitted")
    await reach("submit.recorded")


def _check_id(row: ProviderJob, external_id: Any) -> None:
    """Without an id that can be kept it is as if the answer had been lost: the order is looked for by its key."""
    if not isinstance(external_id, str) or not external_id or plain(external_id) != external_id:
        raise Transient(f"{row.provider} took the order, and told no id by which to ask for it")


async def _note(ctx: Context, query: str, **params: object) -> None:
    await ctx.services.store.run(lambda tx: provider_journal.fenced_note(tx, ctx.id, ctx.fence, query, **params))


async def _note_calling(ctx: Context, row: ProviderJob) -> None:
    async def unit(tx: Tx) -> None:
        await provider_journal.fenced_note(tx, ctx.id, ctx.fence, "note_calling", id=row.id, now=tx.now)

    await ctx.services.store.run(unit)


async def _submitted(ctx: Context, row: ProviderJob, external_id: str, status: str, how: str) -> None:
    polling = polling_of(ctx.settings)

    async def unit(tx: Tx) -> bool:
        return await provider_journal.record_submitted(
            tx, row, external_id, plain(status), first_poll=polling.interval(0.0), timeout=polling.timeout, how=how
        )

    await ctx.services.store.run(unit)


async def _resolve(ctx: Context, provider: Provider, row: ProviderJob, order: Order) -> ProviderJob:
    """Nobody has the answer to its call: it is asked for, once the call is certainly over."""
    await _call_is_over(ctx, provider, row)
    limit = ctx.settings.provider_call_seconds
    try:
        async with asyncio.timeout(limit):
            found = await provider.find(order, row.prepared)
    except TimeoutError:
        raise Transient(f"{row.provider} did not answer within {limit:g} s") from None
    await reach("submit.looked")
    if found is not None:
        _check_id(row, found.external_id)
        await _submitted(ctx, row, found.external_id, found.status, "adopted")
    elif provider.grade is not Grade.AMBIGUOUS or ctx.settings.resubmit_unknown:
        await _note(ctx, "note_not_submitted", id=row.id, states=[ProviderState.CALLING.value])
    else:
        text = f"{row.provider} cannot say whether it has this order: its answer was lost, and its jobs bear no name of ours"
        await ctx.services.store.run(lambda tx: provider_journal.record_unknown(tx, row, text))
    [fresh] = [one for one in await _rows(ctx, row.name) if one.id == row.id]
    return fresh


async def _call_is_over(ctx: Context, provider: Provider, row: ProviderJob) -> None:
    over = timedelta(seconds=provider.submit_seconds + CALL_GRACE)
    job = ctx.claimed

    async def unit(tx: Tx) -> tuple[int, bool]:
        held = await journal.hold(tx, ctx.id, ctx.fence)
        return held.wakes, row.called_at is None or row.called_at + over <= tx.now

    wakes, is_over = await ctx.services.store.run(unit)
    if not is_over:
        assert row.called_at is not None
        raise ctx.suspend("provider_call", wakes_seen=max(wakes, job.wakes), deadline=row.called_at + over)


async def _ended_or_wait(ctx: Context, name: str, step: Step) -> list[ProviderJob]:
    async def unit(tx: Tx) -> tuple[int, list[ProviderJob]]:
        job = await journal.hold(tx, ctx.id, ctx.fence)
        rows = await provider_journal.of_step(tx, ctx.id, name)
        if all(row.state.ended for row in rows):
            await provider_journal.close_step(tx, job, step)
        return job.wakes, rows

    wakes, rows = await ctx.services.store.run(unit)
    waiting = [row for row in rows if not row.state.ended]
    if not waiting:
        return rows
    if all(row.state is ProviderState.UNKNOWN for row in waiting):
        raise ctx.suspend("submit_unknown", wakes_seen=wakes)
    deadlines = [row.deadline for row in waiting if row.deadline is not None]
    # The reconciler ends what takes too long. Should there be none for an hour, the job says so itself.
    raise ctx.suspend("provider", wakes_seen=wakes, deadline=max(deadlines) + timedelta(hours=1) if deadlines else None)


async def results_of(ctx: Context, row: ProviderJob) -> AsyncGenerator[Result, None]:
    if row.external_id is None:
        return  # it never got as far as to have any
    provider = ctx.services.providers.get(row.provider)
    order = await order_of(ctx.values, row)
    await ctx.budget(f"provider:{row.provider}")
    try:
        async with aclosing(provider.fetch(order, row.prepared, row.external_id)) as results:
            async for result in results:
                yield result
    except RateLimited as error:
        error.budget = error.budget or f"provider:{row.provider}"
        raise


async def clean_up(ctx: Context, row: ProviderJob) -> None:
    if row.prepared_json is not None:
        provider = ctx.services.providers.get(row.provider)
        order = await order_of(ctx.values, row)
        async with asyncio.timeout(ctx.settings.provider_call_seconds):
            await provider.clean(order, row.prepared)
    await forget_inputs(ctx.values, row)

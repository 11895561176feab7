"""Webhooks as people make, change and remove them.

Whoever does may add to the transaction by `also`, which is told the webhook, or its id when it is removed.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from towpath.core.encoding import encode
from towpath.core.errors import SchemaInvalid
from towpath.core.ids import uuid7
from towpath.engine.app import App
from towpath.engine.asking.deltas import Deltas, Place
from towpath.engine.changing.cancelling import cancel
from towpath.server.webhooks.records import Webhook, webhook_from
from towpath.store.also import Also, together
from towpath.store.contract import Store, Tx

STATES = ("succeeded", "partial", "failed", "cancelled")
MOST_WEBHOOKS = 50
"""For each tenant: every ending is sent to all of them."""
_MOST_CANCELLED = 1000
_SECRET_MARK = "whsec_"


async def create(
    app: App,
    tenant: str,
    url: str,
    *,
    states: Sequence[str] = STATES,
    operations: Sequence[str] | None = None,
    also: Also[Webhook] | None = None,
) -> Webhook:
    """Endings from now on are sent to it. Its secret is in the answer, and no list shows it again."""
    store, number, secret = app.services.store, uuid7(), _SECRET_MARK + secrets.token_urlsafe(32)
    deltas = await Deltas.of(store)

    async def unit(tx: Tx) -> Webhook:
        await _begin(tx, deltas)
        if (await tx.fetch("webhook_count", tenant=tenant))[0]["webhooks"] >= MOST_WEBHOOKS:
            raise SchemaInvalid(f"a tenant has at most {MOST_WEBHOOKS} webhooks; remove one first", path="url")
        made = Webhook(
            number, tenant, url, tuple(states), None if operations is None else tuple(operations), True, tx.now, None,
            tx.now, secret,
        )  # fmt: skip
        await tx.execute(
            "webhook_add", id=number, tenant=tenant, url=url, secret=secret, **_lists(made), active=True, now=tx.now
        )
        return made

    return await store.run(together(unit, also))


async def _begin(tx: Tx, deltas: Deltas) -> None:
    """Before the first active webhook nobody reads the stream, so its place is set anew. Its row is locked, so that two
    who come at once agree who was first."""
    [row] = await tx.fetch("webhook_cursor_lock")
    if row["token"] is None or not await tx.fetch("webhook_any_active"):
        [now] = await tx.fetch("stream_now")
        await tx.execute("webhook_cursor_move", token=deltas.token(Place(now["cursor"], int(tx.now.timestamp()))))


def _lists(webhook: Webhook) -> dict[str, Any]:
    operations = None if webhook.operations is None else encode(list(webhook.operations))
    return {"states": encode(list(webhook.states)), "operations": operations}


async def find(store: Store, webhook_id: str) -> Webhook | None:
    rows = await store.read(lambda tx: tx.fetch("webhook_by_id", id=webhook_id))
    return webhook_from(rows[0]) if rows else None


async def page(store: Store, tenant: str | None, after: str | None, limit: int) -> list[Webhook]:
    rows = await store.read(lambda tx: tx.fetch("webhooks_page", tenant=tenant, after=after or "", limit=limit))
    return [webhook_from(row) for row in rows]


async def change(app: App, webhook_id: str, *, also: Also[Webhook] | None = None, **changes: Any) -> Webhook | None:
    """Any of url, states, operations and active. What ended while it was not active is not sent afterwards."""
    store = app.services.store
    deltas = await Deltas.of(store)

    async def unit(tx: Tx) -> Webhook | None:
        if changes.get("active"):
            await _begin(tx, deltas)
        rows = await tx.fetch("webhook_lock", id=webhook_id)
        if not rows:
            return None
        before = webhook_from(rows[0])
        after = replace(before, **changes)
        if after.active and not before.active:
            after = replace(after, active_since=tx.now, failing_since=None, paused_reason=None)
        await tx.execute(
            "webhook_change", id=after.id, url=after.url, **_lists(after), active=after.active,
            active_since=after.active_since, failing_since=after.failing_since,
            paused_reason=after.paused_reason,
        )  # fmt: skip
        if also is not None:
            await also(tx, after)
        return after

    return await store.run(unit)


async def remove(app: App, webhook_id: str, *, also: Also[str] | None = None) -> bool:
    """What was not delivered yet is cancelled."""
    store = app.services.store

    async def unit(tx: Tx) -> bool:
        gone = await tx.execute("webhook_delete", id=webhook_id) > 0
        if gone and also is not None:
            await also(tx, webhook_id)
        return gone

    gone = await store.run(unit)
    if gone:
        rows = await store.read(lambda tx: tx.fetch("webhook_deliveries_live", webhook_id=webhook_id, limit=_MOST_CANCELLED))
        await cancel(store, [str(row["id"]) for row in rows], "its webhook was removed")
        await store.run(lambda tx: tx.execute("webhook_deliveries_delete", webhook_id=webhook_id))
    return gone


async def answered(store: Store, webhook_id: str, delivery: str, status: int | None) -> None:
    """How the last attempt of a delivery went. A webhook is failing until something is delivered again."""
    good = status is not None and 200 <= status < 300

    async def unit(tx: Tx) -> None:
        await tx.execute("webhook_delivery_status", webhook_id=webhook_id, id=delivery, status=status)
        if good:
            await tx.execute("webhook_answered_well", id=webhook_id)
        else:
            await tx.execute("webhook_failing", id=webhook_id, now=tx.now)

    await store.run(unit)


async def pause(store: Store, webhook_id: str, reason: str) -> None:
    """Nothing is sent to it until a person activates it again: trying on would not help."""
    await store.run(lambda tx: tx.execute("webhook_pause", id=webhook_id, active=False, now=tx.now, reason=reason))

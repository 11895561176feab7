"""Deliveries as people see them: what was sent, a test, and sending once more. `also` is part of that transaction."""

from __future__ import annotations

from towpath.core.encoding import decode
from towpath.core.errors import NotRequeueable
from towpath.core.ids import LAST_ID, uuid7
from towpath.core.records import NewJob
from towpath.engine.app import App
from towpath.engine.changing.requeueing import requeue_in
from towpath.server.webhooks import resting
from towpath.server.webhooks.messages import OPERATION, PING, of_test
from towpath.server.webhooks.records import Delivery, Webhook, delivery_from
from towpath.store.also import Also, together
from towpath.store.contract import Store, Tx


async def page(store: Store, webhook_id: str, before: str | None, limit: int) -> list[Delivery]:
    """The newest first; `before` is the last id of the page before."""
    rows = await store.read(
        lambda tx: tx.fetch("webhook_deliveries", webhook_id=webhook_id, before=before or LAST_ID, limit=limit)
    )
    return [delivery_from(row) for row in rows]


async def find(tx: Tx, webhook_id: str, delivery_id: str) -> Delivery | None:
    rows = await tx.fetch("webhook_delivery", webhook_id=webhook_id, id=delivery_id)
    return delivery_from(rows[0]) if rows else None


async def ping(app: App, webhook: Webhook, *, also: Also[Delivery] | None = None) -> Delivery:
    """Sends a message of the type `ping`, also to a webhook that is not active."""
    number = uuid7()

    async def unit(tx: Tx) -> Delivery:
        new = app.services.new_job(OPERATION, of_test(webhook, number, tx.now), tenant=webhook.tenant)
        return await _add(tx, webhook.id, new, None, PING)

    return await app.services.store.run(together(unit, also))


async def replay(app: App, webhook: Webhook, delivery_id: str, *, also: Also[Delivery] | None = None) -> Delivery | None:
    """Sends the same message once more: the same delivery if it has failed, another one if it had succeeded."""

    async def unit(tx: Tx) -> Delivery | None:
        found = await find(tx, webhook.id, delivery_id)
        if found is None:
            return None
        made = await again(tx, found)
        await resting.end(tx, webhook.id)
        if also is not None:
            await also(tx, made)
        return made

    async def again(tx: Tx, found: Delivery) -> Delivery:
        if found.state in ("queued", "running", "waiting"):
            raise NotRequeueable(f"delivery {delivery_id} is {found.state}; it is still being sent")
        if found.state == "succeeded":
            [job] = await tx.jobs("jobs_by_id", ids=[delivery_id])
            new = app.services.new_job(OPERATION, decode(job.payload_json), tenant=webhook.tenant, trace=job.trace)
            return await _add(tx, webhook.id, new, found.job_id, found.event)
        if refused := (await requeue_in(tx, [delivery_id])).get(delivery_id):
            raise NotRequeueable(f"delivery {delivery_id} was not sent again: {refused}")
        return await find(tx, webhook.id, delivery_id) or found

    return await app.services.store.run(unit)


async def _add(tx: Tx, webhook_id: str, new: NewJob, job_id: str | None, event: str) -> Delivery:
    await tx.insert_jobs([new])
    await tx.execute("webhook_delivery_add", webhook_id=webhook_id, id=new.id, job_id=job_id, event=event, now=tx.now)
    made = await find(tx, webhook_id, new.id)
    assert made is not None
    return made

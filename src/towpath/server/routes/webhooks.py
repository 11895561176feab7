"""Webhooks: where a tenant wants to hear of its jobs' endings, and what was delivered."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import Query, Request, Response

from towpath.engine.app import App
from towpath.http.audit import audited, note
from towpath.http.policy import Reader, Writer, tenant_of
from towpath.http.problems import invalid, not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.identity.principal import Principal
from towpath.outbound.client import ForbiddenAddress, Outbound, Unresolvable, check_url
from towpath.server.schemas.base import Label, Page
from towpath.server.schemas.webhooks import Delivery, NewWebhook, Webhook, WebhookChanges, WebhookRequest
from towpath.server.webhooks import deliveries, stored
from towpath.server.webhooks.records import Delivery as KeptDelivery
from towpath.server.webhooks.records import Webhook as KeptWebhook
from towpath.store.also import Also

router = Router(prefix="/api/webhooks", tags=["webhooks"])

After = Annotated[UUID | None, Query(description="`next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=200)]


@router.get("", operation_id="list_webhooks")
async def list_webhooks(
    principal: Reader,
    app: Engine,
    tenant: Annotated[Label | None, Query(description="For admins: those of one tenant.")] = None,
    after: After = None,
    limit: Limit = 100,
) -> Page[Webhook]:
    """The tenant's webhooks, in the order they were made; administrators see everybody's. Never their secrets."""
    whose = tenant_of(principal, tenant)
    found = await stored.page(app.services.store, whose, str(after) if after else None, limit)
    return Page(items=[_shown(item) for item in found], next=found[-1].id if len(found) == limit else None)


@router.post("", operation_id="create_webhook", status_code=201)
async def create_webhook(principal: Writer, app: Engine, request: Request, asked: WebhookRequest) -> NewWebhook:
    """Endings from now on are sent there. The answer has the secret that messages are signed with, this once."""
    tenant = tenant_of(principal, asked.tenant) or principal.tenant
    await _check(app, principal, asked.url)
    host = check_url(asked.url).hostname
    made = await stored.create(
        app, tenant, asked.url, states=asked.states, operations=asked.operations,
        also=audited(request, lambda made: note("webhook.create", made.id, tenant=tenant, host=host)),
    )  # fmt: skip
    return NewWebhook(**_fields(made), secret=made.secret)


@router.patch("/{webhook_id}", operation_id="update_webhook", responses=responses(404))
async def update_webhook(
    principal: Writer, app: Engine, request: Request, webhook_id: UUID, asked: WebhookChanges
) -> Webhook:
    """What ended while it was not active is not sent afterwards. One that was paused goes on with `active: true`."""
    found = await _own(app, principal, webhook_id)
    changes: dict[str, Any] = {name: getattr(asked, name) for name in asked.model_fields_set}
    changes = {name: value for name, value in changes.items() if value is not None or name == "operations"}
    if "url" in changes or (changes.get("active") and found.paused_reason):
        await _check(app, principal, changes.get("url", found.url))
    for name in ("states", "operations"):
        if changes.get(name) is not None:
            changes[name] = tuple(changes[name])
    line: Also[KeptWebhook] = audited(
        request, lambda _: note("webhook.update", found.id, tenant=found.tenant, changed=sorted(changes))
    )
    changed = await stored.change(app, found.id, also=line, **changes)
    if changed is None:
        raise _none(webhook_id)
    return _shown(changed)


@router.delete("/{webhook_id}", operation_id="delete_webhook", status_code=204, responses=responses(404))
async def delete_webhook(principal: Writer, app: Engine, request: Request, webhook_id: UUID) -> Response:
    """What was not delivered yet is cancelled."""
    found = await _own(app, principal, webhook_id)
    await stored.remove(
        app, found.id, also=audited(request, lambda _: note("webhook.delete", found.id, tenant=found.tenant))
    )
    return Response(status_code=204)


@router.post("/{webhook_id}/test", operation_id="test_webhook", status_code=201, responses=responses(404))
async def test_webhook(principal: Writer, app: Engine, request: Request, webhook_id: UUID) -> Delivery:
    """Sends a message of the type `ping`, signed like any other; also if the webhook is not active."""
    found = await _own(app, principal, webhook_id)
    line: Also[KeptDelivery] = audited(request, lambda _: note("webhook.test", found.id, tenant=found.tenant))
    return _delivery(await deliveries.ping(app, found, also=line))


@router.get("/{webhook_id}/deliveries", operation_id="list_deliveries", responses=responses(404))
async def list_deliveries(
    principal: Reader, app: Engine, webhook_id: UUID, after: After = None, limit: Limit = 50
) -> Page[Delivery]:
    """What was sent there, the newest first. Each delivery is a job, and goes when that is pruned."""
    found = await _own(app, principal, webhook_id)
    items = await deliveries.page(app.services.store, found.id, str(after) if after else None, limit)
    return Page(items=[_delivery(item) for item in items], next=items[-1].id if len(items) == limit else None)


@router.post("/{webhook_id}/deliveries/{delivery_id}/replay", operation_id="replay_delivery", responses=responses(404, 409))
async def replay_delivery(principal: Writer, app: Engine, request: Request, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    """Sends the same message once more, with the same id: the delivery itself, or a new one if it had succeeded."""
    found = await _own(app, principal, webhook_id)
    line: Also[KeptDelivery] = audited(
        request, lambda made: note("webhook.replay", made.id, tenant=found.tenant, webhook=found.id)
    )
    made = await deliveries.replay(app, found, str(delivery_id), also=line)
    if made is None:
        raise not_found("this webhook has no such delivery; it may have been pruned")
    return _delivery(made)


async def _own(app: App, principal: Principal, webhook_id: UUID) -> KeptWebhook:
    found = await stored.find(app.services.store, str(webhook_id))
    if found is None or not (principal.admin or found.tenant == principal.tenant):
        raise _none(webhook_id)
    return found


def _none(webhook_id: UUID) -> Exception:
    return not_found(f"no webhook has the id {webhook_id}")


async def _check(app: App, principal: Principal, url: str) -> None:
    """A name that cannot be resolved is most likely misspelt. Only administrators are told that from one of a private
    network: everybody else could find out by it which names there are inside."""
    try:
        await Outbound(allow_private=app.settings.allow_private_urls).check(url)
    except (Unresolvable, ForbiddenAddress) as error:
        if principal.admin:
            raise invalid("url", str(error).removeprefix("url: "), remedy=error.remedy) from None
        host = check_url(url).hostname or ""
        raise invalid(
            "url", f"{host[:100]!r} leads to nothing that may be called from here",
            remedy="check the name: it has to lead to a public address; an administrator is told more",
        ) from None  # fmt: skip


def _fields(webhook: KeptWebhook) -> dict[str, Any]:
    return {name: getattr(webhook, name) for name in Webhook.model_fields}


def _shown(webhook: KeptWebhook) -> Webhook:
    return Webhook(**_fields(webhook))


def _delivery(delivery: KeptDelivery) -> Delivery:
    return Delivery(**{name: getattr(delivery, name) for name in Delivery.model_fields})

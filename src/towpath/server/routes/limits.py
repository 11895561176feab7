"""Spend limits: what tenants may spend. Work that would cost more waits for `budget`, and goes on when a limit is raised."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request

from towpath.engine.app import App
from towpath.http.audit import audited, note
from towpath.http.policy import Admin, Reader
from towpath.http.problems import not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.server.schemas.base import Label, Page
from towpath.server.schemas.limits import NewSpendLimit, Period, SpendLimit
from towpath.store.spending import Limit

router = Router(prefix="/api/limits", tags=["limits"])

Tenant = Annotated[Label, Path(description="The tenant's name.")]


@router.get("", operation_id="list_limits")
async def list_limits(
    principal: Reader,
    app: Engine,
    after: Annotated[Label | None, Query(description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Page[SpendLimit]:
    """What tenants may spend, by name, and what each has spent. Who is not listed may spend anything. Everybody but
    administrators sees their own tenant."""
    if not principal.admin:
        own = await app.spending.limit_of(principal.tenant)
        return Page(items=[] if own is None else [_shown(own)], next=None)
    found = await app.spending.limits(after or "", limit + 1)
    more = len(found) > limit
    return Page(items=[_shown(one) for one in found[:limit]], next=found[limit - 1].name if more else None)


@router.put("/{tenant:path}", operation_id="set_limit", responses=responses(404))
async def set_limit(_principal: Admin, app: Engine, request: Request, tenant: Tenant, asked: NewSpendLimit) -> SpendLimit:
    """Says what a tenant may spend. What of it waits for money looks again at once."""
    line = audited(request, lambda _: note("limit.set", tenant, cents=asked.cents, period=asked.period))
    await app.spending.limit_tenant(tenant, asked.cents, period=asked.period, also=line)
    return _shown(await _found(app, tenant))


@router.delete("/{tenant:path}", operation_id="clear_limit", status_code=204, responses=responses(404))
async def clear_limit(_principal: Admin, app: Engine, request: Request, tenant: Tenant) -> None:
    """Takes the limit away: the tenant may spend anything, and what of it waits for money looks again."""
    await _found(app, tenant)
    await app.spending.limit_tenant(tenant, None, also=audited(request, lambda _: note("limit.clear", tenant)))


async def _found(app: App, tenant: str) -> Limit:
    found = await app.spending.limit_of(tenant)
    if found is None:
        raise not_found("this tenant has no limit")
    return found


def _shown(limit: Limit) -> SpendLimit:
    period: Period = "month" if limit.period == "month" else "ever"
    return SpendLimit(tenant=limit.name, cents=limit.cents, period=period, spent_cents=limit.spent)

"""Statistics: throughput, latencies, failures, retries, costs, how busy the workers are."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import BeforeValidator

from towpath.core.naming import folded
from towpath.http.policy import Reader, tenant_of
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.server.counts import at_most_once_a_second
from towpath.server.schemas.base import Label, Name
from towpath.server.schemas.stats import Stats, WindowName, shown

router = Router(prefix="/api/stats", tags=["stats"])


def _any_case(value: object) -> object:
    return folded(value) if isinstance(value, str) else value


@router.get("", operation_id="get_stats")
async def get_stats(
    principal: Reader,
    app: Engine,
    window: Annotated[WindowName, BeforeValidator(_any_case), Query()] = WindowName.DAY,
    operation: Annotated[Name | None, Query()] = None,
    queue: Annotated[Name | None, Query()] = None,
    tenant: Annotated[Label | None, Query(description="For admins: one tenant instead of all.")] = None,
) -> Stats:
    """The last hour, day or week. Of all tenants from counts that are exact; of one tenant from its newest jobs."""
    whose = tenant_of(principal, tenant)
    asked = {"operation": operation, "queue": queue, "tenant": whose}
    key = ("stats", window, principal.admin, *asked.values())

    async def make() -> Stats:
        return shown(await app.statistics(window, **asked), reasons=principal.admin)

    return await at_most_once_a_second(app, key, make)

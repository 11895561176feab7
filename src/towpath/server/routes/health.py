"""Whether the process is there, and whether it can work."""

from __future__ import annotations

import asyncio

from towpath.core.errors import StoreUnavailable
from towpath.http.policy import Anyone
from towpath.http.problems import Problem, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.server.schemas.health import Health
from towpath.version import __version__

router = Router(tags=["health"])

_PATIENCE = 5.0


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", operation_id="check_health")
async def check_health(_principal: Anyone) -> Health:
    """The process answers."""
    return Health(status="ok", version=__version__)


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", operation_id="check_readiness", responses=responses(503))
async def check_readiness(_principal: Anyone, app: Engine) -> Health:
    """The database answers and has every migration; 503 otherwise."""
    try:
        async with asyncio.timeout(_PATIENCE):
            _ = app.services  # an app that is not open is not ready
            missing = await app.pending_migrations()
    except (TimeoutError, StoreUnavailable) as error:
        raise Problem("unavailable", 503, "the database cannot be reached", headers={"Retry-After": "2"}) from error
    if missing:
        raise Problem("unavailable", 503, f"the database lacks {len(missing)} migrations", remedy="run: towpath migrate")
    return Health(status="ok", version=__version__)

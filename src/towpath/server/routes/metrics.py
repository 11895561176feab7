"""Metrics for Prometheus: for administrators' tokens, and for whoever asks from this very machine."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated, Any

from fastapi import Depends, Request, Response, Security
from fastapi.security import HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST

from towpath.http.authentication import authenticate
from towpath.http.hosts import host_in
from towpath.http.policy import Policy, refuse_unknown_query
from towpath.http.routing import Router
from towpath.http.state import Engine, exposure_of
from towpath.identity.principal import ADMIN, Principal
from towpath.outbound.addresses import is_loopback
from towpath.server.counts import at_most_once_a_second
from towpath.server.exposition import exposition, look
from towpath.server.observing import Requests

router = Router(tags=["health"])

_BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="An API token: `tow_…`")
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


class Scraper(Policy):
    """An administrator, or somebody on this machine who has not come through a proxy."""

    scope = ADMIN

    async def __call__(self, request: Request, _bearer: Annotated[Any, Security(_BEARER)] = None) -> Principal | None:
        refuse_unknown_query(request)
        return None if _from_here(request) else self.judge(await authenticate(request))


def _from_here(request: Request) -> bool:
    """A server that is said to stand behind a proxy believes nobody: the proxy itself is on this machine too. Nor is the
    name of somewhere else asked for from here."""
    exposure = exposure_of(request)
    if exposure.trusted_proxies or exposure.base_url or exposure.base_path or "authorization" in request.headers:
        return False
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    if not is_loopback(host_in(request.headers.get("host")) or ""):
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False


@router.get(
    "/metrics", operation_id="get_metrics", response_class=Response, openapi_extra={"security": [{}]},
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Prometheus text format."}},
)  # fmt: skip
async def get_metrics(
    _principal: Annotated[Principal | None, Depends(Scraper())], app: Engine, request: Request
) -> Response:
    """Queues, jobs, latencies, workers and budgets of the whole database; requests and streams of this process."""
    snapshot = await at_most_once_a_second(app, "metrics", lambda: look(app.services.store))
    state = request.app.state
    requests: Requests = getattr(state, "towpath_requests", None) or Requests()
    hub = getattr(state, "towpath_hub", None)
    return Response(exposition(snapshot, requests, hub.listeners if hub else 0), media_type=CONTENT_TYPE_LATEST)

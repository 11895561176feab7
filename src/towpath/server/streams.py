"""The hub of a server's push streams: made by the first stream, stopped with the server."""

from __future__ import annotations

from fastapi import FastAPI, Request

from towpath.http.state import app_of
from towpath.push import Hub, Limits
from towpath.server.schemas.stream import describe


def hub_of(request: Request) -> Hub:
    state, app = request.app.state, app_of(request)
    store = app.services.store
    hub: Hub | None = getattr(state, "towpath_hub", None)
    if hub is None or hub.store is not store:  # an app that was closed and opened again has another store
        hub = state.towpath_hub = Hub(store, describe, getattr(state, "towpath_stream_limits", None), app.projections)
    return hub


def reconsider_streams(request: Request) -> None:
    """After something was revoked: whoever listens by it is cut off now, and not with the next glance."""
    hub: Hub | None = getattr(request.app.state, "towpath_hub", None)
    if hub is not None:
        hub.judge.look_now()


def limit_streams(api: FastAPI, limits: Limits) -> None:
    api.state.towpath_stream_limits = limits


def end_streams(api: FastAPI) -> None:
    """Lets every stream end. A server that waits for open answers before it shuts down calls this first."""
    hub: Hub | None = getattr(api.state, "towpath_hub", None)
    if hub is not None:
        hub.end_streams()


async def stop_streams(api: FastAPI) -> None:
    """Part of shutting down, before the app is closed."""
    hub: Hub | None = getattr(api.state, "towpath_hub", None)
    if hub is not None:
        await hub.stop()

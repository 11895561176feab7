"""The server: routes, policies, problem documents and the UI put together as one ASGI app."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from fastapi import FastAPI

from towpath.assets.tidying import Keeper
from towpath.engine.app import App
from towpath.http import setup
from towpath.http.routes import routers_of
from towpath.http.routing import check_addresses, check_policies
from towpath.http.state import exposure_from
from towpath.server import describing, observing, spa
from towpath.server.options import ServerOptions
from towpath.server.routes import (
    assets as asset_routes,
)
from towpath.server.routes import (
    assistants,
    audit,
    bulk,
    events,
    example,
    health,
    inbox,
    jobs,
    limits,
    making,
    manual,
    metrics,
    models,
    moving,
    oidc,
    operations,
    problems,
    push,
    queues,
    schedules,
    session,
    settings,
    stats,
    tokens,
    uploads,
    users,
    webhooks,
    workers,
)
from towpath.server.slices import attach
from towpath.server.streams import limit_streams, stop_streams
from towpath.server.upload_worker import UploadWorker
from towpath.server.webhooks import dispatcher
from towpath.version import __version__

_RESOURCES = (
    session, oidc, jobs, making, moving, bulk, events, inbox, queues, workers, schedules, operations, stats, webhooks,
    settings, models, limits, tokens, users, asset_routes, uploads, audit, push, metrics, health, problems, manual, example,
    assistants,
)  # fmt: skip


def create_app(app: App, options: ServerOptions | None = None) -> FastAPI:
    """The ASGI app of a server for `app`: on its own, or mounted in another one.

    Its lifespan opens `app` if nobody has, and closes what it opened. A mounted app's lifespan is not run by the outer
    one: run it there with `async with running(server):`; see docs/how-to/embed-the-ui.md.
    """
    chosen = options or ServerOptions()
    attach(app)
    api = FastAPI(
        title="Towpath", version=__version__, description="Durable, fair jobs.", openapi_url="/api/openapi.json",
        docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=_lifespan,
        swagger_ui_oauth2_redirect_url=None, telemetry=observing.NO_OTHER,
    )  # fmt: skip
    exposure = exposure_from(app.settings, local=chosen.local)
    observing.install(api)
    setup.install(api, app, replace(exposure, base_path=chosen.base_path or exposure.base_path))
    limit_streams(api, chosen.streams)
    for router in [*(resource.router for resource in _RESOURCES), *routers_of(app)]:
        api.include_router(router)
    check_addresses(api)
    describing.install(api)
    api.state.towpath_ui = chosen.ui
    if chosen.ui:
        spa.install(api)
    check_policies(api, open_paths=spa.PATHS)
    return api


@asynccontextmanager
async def _lifespan(api: FastAPI) -> AsyncIterator[None]:
    app: App = api.state.towpath_app
    async with AsyncExitStack() as stack:
        if app.home is None:
            await stack.enter_async_context(app)
        stack.push_async_callback(stop_streams, api)
        keeper = Keeper(app)
        keeper.start()
        stack.push_async_callback(keeper.stop)
        hands = UploadWorker(app)
        stack.push_async_callback(hands.stop)
        await hands.start()
        speaker = assistants.Speaker(api)
        stack.push_async_callback(speaker.stop)
        await speaker.start()
        deliveries = dispatcher(app)
        deliveries.start()
        stack.push_async_callback(deliveries.stop)
        yield


@asynccontextmanager
async def running(api: FastAPI) -> AsyncIterator[FastAPI]:
    """Runs the lifespan of a server that is mounted in another ASGI app."""
    async with api.router.lifespan_context(api):
        yield api

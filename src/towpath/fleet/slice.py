"""What a fleet brings to an app: tables, the operation that hands tasks to remote workers, routes, and a loop that notices
workers which are gone."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from towpath import App, Context, Retry, Slice, assets
from towpath.fleet import ending, moving, names
from towpath.fleet.dispatching import ATTEMPTS, Dispatching
from towpath.fleet.explaining import explain_waits
from towpath.fleet.recovering import Recovering
from towpath.fleet.telling import tell_of
from towpath.http.routes import add_routes

SLICE = Slice(
    "fleet", files("towpath.fleet") / "migrations", files("towpath.fleet") / "queries",
    blobs={names.FLEET: "fleet_tasks_known"},
)  # fmt: skip


def attach(app: App) -> None:
    """Before the app is opened, in servers and in workers; twice is once."""
    assets.attach(app)
    if not app.add_slice(SLICE):
        return
    backoff = Retry(limit=ATTEMPTS, base=app.settings.fleet_retry_seconds)
    app.operation(names.RUN, queue=names.QUEUE, retry=backoff)(Dispatching(app).run)

    async def after(ctx: Context, payload: dict[str, Any]) -> None:
        await ending.after(app, ctx, payload)

    async def removing(ctx: Context, payload: dict[str, Any]) -> None:
        await moving.remove_later(app, ctx, payload)

    app.operation(names.AFTER, queue=names.QUEUE, retry=Retry(limit=10))(after)
    app.operation(names.REMOVE, queue=names.CARE_QUEUE, retry=Retry(limit=10))(removing)
    app.retain(names.CARE_QUEUE, succeeded_days=1.0)
    app.loop("fleet-recovery", Recovering(app).turn)
    explain_waits(app)
    tell_of(app)
    add_routes(app, _routes)


def _routes() -> Any:
    from towpath.fleet.routes import router

    return router

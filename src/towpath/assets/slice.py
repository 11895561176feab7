"""What assets bring to an app: their tables, and the operation that hands finished uploads over."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from towpath import App, Context, Retry, Slice, choices
from towpath.assets.keys import FINISH
from towpath.assets.uploads.finishing import QUEUE, finish

SLICE = Slice(
    "assets",
    files("towpath.assets") / "migrations",
    files("towpath.assets") / "queries",
    blobs={"assets": "assets_known"},
)
_HOUR = 3600.0


def attach(app: App) -> None:
    """Before the app is opened, in servers and in workers; twice is once."""
    choices.attach(app)
    if not app.add_slice(SLICE):
        return

    async def finishing(ctx: Context, payload: dict[str, Any]) -> dict[str, Any]:
        return await finish(app, ctx, payload["upload_id"])

    app.operation(FINISH, queue=QUEUE, retry=Retry(limit=10), timeout=_HOUR)(finishing)
    app.retain(QUEUE, succeeded_days=1.0)

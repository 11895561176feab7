"""What recordings bring to an app: tables, operations, and the receiver of finished uploads."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from typing import Any

from towpath import DEFAULT_TENANT, App, Context, Retry, Slice, assets, search
from towpath.http.routes import add_routes
from towpath.recordings import names, tidying, uploads
from towpath.recordings.indexing import Asked, index_all
from towpath.recordings.removing import remove_later
from towpath.recordings.summarizing import summarize
from towpath.recordings.telling import tell_of
from towpath.recordings.transcribing import Transcription
from towpath.recordings.windows import hear
from towpath.recordings.workload import Workload

SLICE = Slice("recordings", files("towpath.recordings") / "migrations", files("towpath.recordings") / "queries")
_HOUR = 3600.0
_ATTEMPTS = Retry(limit=3)


def attach(app: App) -> None:
    """Before the app is opened, in servers and in workers; twice is once."""
    assets.attach(app)
    search.attach(app)
    if not app.add_slice(SLICE):
        return
    assets.on_upload(
        app, uploads.PURPOSE, uploads.received, prepare=partial(uploads.prepare, app), check=uploads.check
    )  # fmt: skip
    transcription = Transcription(app)
    for name in sorted(names.TRANSCRIBING):
        app.operation(name, queue=names.TRANSCRIPTION_QUEUE, retry=_ATTEMPTS, timeout=3 * _HOUR)(transcription.run)
    app.operation(names.WINDOWS, queue=names.TRANSCRIPTION_QUEUE, retry=_ATTEMPTS, timeout=_HOUR)(hear)
    for name in sorted(names.SUMMARIZING):
        app.operation(name, queue=names.SUMMARY_QUEUE, retry=_ATTEMPTS, timeout=_HOUR)(summarize)
    app.workload(names.KIND)(Workload(app).of)
    _attach_care(app)
    tell_of(app)
    add_routes(app, _routes)


def _routes() -> Any:
    from towpath.recordings.routes import router

    return router


def _attach_care(app: App) -> None:
    async def removing(ctx: Context, payload: dict[str, Any]) -> int:
        return await remove_later(app, ctx, payload)

    async def tidy(ctx: Context) -> dict[str, int]:
        return await tidying.tidy(app, ctx)

    async def indexing(ctx: Context, payload: Asked) -> int:
        return await index_all(app, ctx, payload)

    app.operation(names.INDEX, queue=names.CARE_QUEUE, retry=_ATTEMPTS)(indexing)
    app.schedule(names.INDEX, "7 * * * *", names.INDEX, {}, tenant=DEFAULT_TENANT)
    app.operation(names.REMOVE, queue=names.CARE_QUEUE, retry=Retry(limit=10))(removing)
    app.operation(names.TIDY, queue=names.CARE_QUEUE)(tidy)
    app.retain(names.CARE_QUEUE, succeeded_days=1.0)
    if tidying.wanted(app):
        app.schedule(names.TIDY, "* * * * *", names.TIDY, tenant=DEFAULT_TENANT)

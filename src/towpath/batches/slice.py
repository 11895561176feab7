"""What batches bring to an app: tables, operations, routes, and every batch provider that there is an adapter for."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from typing import Any

from towpath import App, Context, Retry, Slice, assets
from towpath.batches import answering, hearing, names, staging, tidying
from towpath.batches.answering import answer
from towpath.batches.asking import ask_for
from towpath.batches.completing import Completing
from towpath.batches.explaining import explain_waits
from towpath.batches.handing_back import tell_askers
from towpath.batches.removing import remove_later
from towpath.batches.telling import tell_of
from towpath.batches.transcribing import Transcribing
from towpath.batches.uploading import take_uploads
from towpath.http.routes import add_routes
from towpath.providers.catalog import PROVIDERS, make_here

SLICE = Slice(
    "batches",
    files("towpath.batches") / "migrations",
    files("towpath.batches") / "queries",
    blobs={names.BATCHES: "batches_known", names.DATASETS: "batch_datasets_known"},
)
_HOUR = 3600.0


def attach(app: App) -> None:
    """Before the app is opened, in servers and in workers; twice is once."""
    assets.attach(app)
    if not app.add_slice(SLICE):
        return
    for name in PROVIDERS:
        app.provider(name, partial(make_here, name, app.settings), unless_there=True)
    complete = Completing(app).run
    app.operation(names.COMPLETE, queue=names.QUEUE, retry=Retry(limit=5), timeout=6 * _HOUR)(complete)
    app.operation(names.ANSWER, queue=names.QUEUE, retry=Retry(limit=answering.ATTEMPTS), timeout=3 * _HOUR)(answer)

    _attach_speech(app)

    async def removing(ctx: Context, payload: dict[str, Any]) -> None:
        await remove_later(app, ctx, payload)

    app.operation(names.ASK, queue=names.ASK_QUEUE)(ask_for)

    async def telling(ctx: Context, payload: dict[str, Any]) -> None:
        await tell_askers(app, ctx, payload)

    app.operation(names.TELL_ASKERS, queue=names.CARE_QUEUE, retry=Retry(limit=10))(telling)
    app.operation(names.REMOVE, queue=names.CARE_QUEUE, retry=Retry(limit=10))(removing)
    app.retain(names.CARE_QUEUE, succeeded_days=1.0)
    explain_waits(app)
    take_uploads(app)
    tell_of(app)
    add_routes(app, _routes)


def _attach_speech(app: App) -> None:
    async def tidy(ctx: Context, payload: dict[str, Any]) -> None:
        await tidying.tidy(app, ctx, payload)

    transcribe = Transcribing(app).run
    app.operation(names.TRANSCRIBE, queue=names.QUEUE, retry=Retry(limit=staging.ATTEMPTS), timeout=6 * _HOUR)(transcribe)
    app.operation(names.HEAR, queue=names.QUEUE, retry=Retry(limit=hearing.ATTEMPTS), timeout=3 * _HOUR)(hearing.hear)
    app.operation(names.TIDY, queue=names.CARE_QUEUE, retry=Retry(limit=10))(tidy)


def _routes() -> Any:
    from towpath.batches.routes import router

    return router

"""What documents bring to an app: tables, operations, routes, and the steps that every document goes through."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from towpath import DEFAULT_TENANT, App, Context, Retry, Slice, assets, search
from towpath.documents import names, pipeline, tidying
from towpath.documents.ingesting import Ingesting
from towpath.documents.reading import ATTEMPTS, Reading
from towpath.documents.removing import remove_later
from towpath.documents.steps.extracting import EXTRACTORS
from towpath.documents.telling import tell_of
from towpath.documents.uploading import take_uploads
from towpath.extraction import Extractors, limits_of
from towpath.http.routes import add_routes

SLICE = Slice(
    "documents", files("towpath.documents") / "migrations", files("towpath.documents") / "queries",
    blobs={names.RESULTS: "document_results_known"},
)  # fmt: skip
_HOUR = 3600.0


def attach(app: App) -> None:
    """Before the app is opened, in servers and in workers; twice is once."""
    assets.attach(app)
    search.attach(app)
    if not app.add_slice(SLICE):
        return
    pipeline.usual(app)
    app.operation(names.INGEST, queue=names.QUEUE, retry=Retry(limit=ATTEMPTS), timeout=_HOUR)(Ingesting(app).run)
    app.operation(names.READ, queue=names.QUEUE, retry=Retry(limit=ATTEMPTS), timeout=2 * _HOUR)(Reading(app).read)

    @app.resource(EXTRACTORS)
    async def extractors() -> Extractors:
        return Extractors(limits_of(app.settings))

    _attach_care(app)
    take_uploads(app)
    tell_of(app)
    add_routes(app, _routes)


def _attach_care(app: App) -> None:
    async def removing(ctx: Context, payload: dict[str, Any]) -> None:
        await remove_later(app, ctx, payload)

    async def tidy(ctx: Context) -> dict[str, int]:
        return await tidying.tidy(app, ctx)

    app.operation(names.REMOVE, queue=names.CARE_QUEUE, retry=Retry(limit=10))(removing)
    app.operation(names.TIDY, queue=names.CARE_QUEUE)(tidy)
    app.retain(names.CARE_QUEUE, succeeded_days=1.0)
    app.schedule(names.TIDY, "17 * * * *", names.TIDY, tenant=DEFAULT_TENANT)


def _routes() -> Any:
    from towpath.documents.routes import router

    return router

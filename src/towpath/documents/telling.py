"""What the push stream says of runs, items and documents whenever they or their jobs have changed: the very rows that lists
show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from towpath import App, Projection
from towpath.documents import stored
from towpath.documents.names import DOCUMENT, ITEM, RUN
from towpath.documents.run_views import run_views
from towpath.documents.views import item_views


def tell_of(app: App) -> None:
    # Shapes are the server's, and not every app has one.
    @app.projection(RUN)
    async def runs(ids: Sequence[str]) -> Mapping[str, Projection]:
        from towpath.documents.shaping import run_shape

        found = await run_views(app, await stored.runs(app, ids))
        return {view.run.id: Projection(view.run.tenant, run_shape(view).model_dump_json()) for view in found}

    @app.projection(ITEM)
    async def items(ids: Sequence[str]) -> Mapping[str, Projection]:
        from towpath.documents.shaping import item_shape

        found = await item_views(app, await stored.items(app, ids))
        return {view.item.id: Projection(view.item.tenant, item_shape(view).model_dump_json()) for view in found}

    @app.projection(DOCUMENT)
    async def documents(ids: Sequence[str]) -> Mapping[str, Projection]:
        from towpath.documents.shaping import document_shape

        found = await stored.documents(app, ids)
        return {one.id: Projection(one.tenant, document_shape(one).model_dump_json()) for one in found}

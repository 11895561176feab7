"""What the push stream says of a batch whenever it or one of its jobs has changed: the very row that lists show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from towpath import App, Projection
from towpath.batches import stored
from towpath.batches.names import KIND
from towpath.batches.views import views


def tell_of(app: App) -> None:
    @app.projection(KIND)
    async def project(ids: Sequence[str]) -> Mapping[str, Projection]:
        from towpath.batches.shaping import batch_shape  # shapes are the server's, and not every app has one

        found = await views(app, await stored.by_ids(app, ids))
        return {view.batch.id: Projection(view.batch.tenant, batch_shape(view).model_dump_json()) for view in found}

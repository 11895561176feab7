"""What the push stream says of a task whenever it or its job has changed: the very row that lists show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from towpath import App, Projection
from towpath.fleet.names import KIND
from towpath.fleet.views import views_of


def tell_of(app: App) -> None:
    # Shapes are the server's, and not every app has one.
    @app.projection(KIND)
    async def tasks(ids: Sequence[str]) -> Mapping[str, Projection]:
        from towpath.fleet.shaping import task_shape

        return {
            view.task.id: Projection(view.task.tenant, task_shape(view).model_dump_json())
            for view in await views_of(app, ids)
        }

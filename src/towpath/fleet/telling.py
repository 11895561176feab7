"""What the push stream says of a task whenever it or its job has changed: the very row that lists show.

And of a remote worker that came, went, or has another number of busy slots; that concerns those who run the installation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from towpath import App, Projection
from towpath.fleet import stored
from towpath.fleet.names import KIND, WORKER
from towpath.fleet.views import views_of


def tell_of(app: App) -> None:
    # Shapes are the server's, and not every app has one.
    @app.projection(KIND)
    async def tasks(ids: Sequence[str]) -> Mapping[str, Projection]:
        from towpath.fleet.access import worker_names
        from towpath.fleet.shaping import task_shape

        found = await views_of(app, ids)
        names = await worker_names(app, {view.last.worker_id for view in found if view.last})
        rows = {view.task.id: task_shape(view, names).model_dump(mode="json") for view in found}
        return {view.task.id: Projection(view.task.tenant, _with_id(view.task.id, rows[view.task.id])) for view in found}

    @app.projection(WORKER)
    async def workers(ids: Sequence[str]) -> Mapping[str, Projection]:
        from towpath.fleet.shaping import presence_shape

        now = await app.now()
        busy = {row["worker_id"]: row["busy"] for row in await app.query("fleet_workers_busy")}
        shapes = [presence_shape(one, now, busy.get(one.id, 0)) for one in await stored.workers(app, ids)]
        return {shape.id: Projection(None, shape.model_dump_json()) for shape in shapes}


def _with_id(task_id: str, row: Mapping[str, object]) -> str:
    """Every message says in the same place which thing it is about."""
    return json.dumps({"id": task_id, **row})

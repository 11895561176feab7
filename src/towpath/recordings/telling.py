"""What the push stream says of a recording whenever it or one of its jobs has changed: the very row that lists show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from towpath import App, Projection
from towpath.recordings import stored
from towpath.recordings.names import KIND
from towpath.recordings.views import views


def tell_of(app: App) -> None:
    @app.projection(KIND)
    async def project(ids: Sequence[str]) -> Mapping[str, Projection]:
        from towpath.recordings.shaping import recording_shape  # shapes are the server's, and not every app has one

        found = await views(app, await stored.by_ids(app, ids))
        return {
            view.recording.id: Projection(view.recording.tenant, recording_shape(view).model_dump_json()) for view in found
        }

"""What OpenAI's API brings to an app: routes, and no tables."""

from __future__ import annotations

from typing import Any

from towpath import App, batches, recordings
from towpath.http.routes import add_routes


class _Attached:
    """Whether this has been attached to an app."""

    done = False


def attach(app: App) -> None:
    """Before the app is opened; twice is once."""
    batches.attach(app)
    recordings.attach(app)
    mark = app.part(_Attached)
    if not mark.done:
        mark.done = True
        add_routes(app, _routes)


def _routes() -> Any:
    from towpath.openai_api.routes import router

    return router

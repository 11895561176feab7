"""What knowledge brings to an app: the operation that answers questions, and routes."""

from __future__ import annotations

from typing import Any

from towpath import App, Retry, choices, search
from towpath.http.routes import add_routes
from towpath.knowledge.asking import Asking
from towpath.knowledge.names import ASK, QUEUE


class _Attached:
    """Whether this has been attached to an app."""

    done = False


def attach(app: App) -> None:
    """Before the app is opened, in servers and in workers; twice is once. Its addresses are fixed ones below those of
    documents, so it comes before them."""
    choices.attach(app)
    search.attach(app)
    mark = app.part(_Attached)
    if mark.done:
        return
    mark.done = True
    app.operation(ASK, queue=QUEUE, retry=Retry(limit=3))(Asking(app).run)
    app.retain(QUEUE, succeeded_days=30.0)
    add_routes(app, _routes)


def _routes() -> Any:
    from towpath.knowledge.routes import router

    return router

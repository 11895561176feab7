"""What dismissals bring to an app: a table."""

from __future__ import annotations

from importlib.resources import files

from towpath.engine.app import App
from towpath.store.migrating import Slice

SLICE = Slice(
    "dismissals", files("towpath.server.dismissals") / "migrations", files("towpath.server.dismissals") / "queries"
)  # fmt: skip


def attach(app: App) -> None:
    """Before the app is opened; twice is once."""
    app.add_slice(SLICE)

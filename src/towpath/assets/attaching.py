"""What assets bring to an app: their tables."""

from __future__ import annotations

from importlib.resources import files

from towpath.engine.app import App
from towpath.store.migrating import Slice

SLICE = Slice(
    "assets",
    files("towpath.assets") / "migrations",
    files("towpath.assets") / "queries",
    blobs={"assets": "assets_known"},
)


def attach(app: App) -> None:
    """Before the app is opened, in servers and in workers; twice is once."""
    app.add_slice(SLICE)

"""What search brings to an app: its tables, and what this process remembers of them."""

from __future__ import annotations

from importlib.resources import files
from importlib.util import find_spec

from towpath import App, Slice
from towpath.models.remote_embeddings import embedder_for
from towpath.search.meaning import Embedder, Meaning

SLICE = Slice("search", files("towpath.search") / "migrations", files("towpath.search") / "queries")


def is_installed() -> bool:
    """Whether this process can index and ask: stems are an extra (`towpath[local]`)."""
    return find_spec("snowballstemmer") is not None


def attach(app: App, embedder: Embedder | None = None) -> None:
    """Before the app is opened, in servers and in workers; twice is once. `embedder` makes vectors of what is asked, and has
    to be the one that made those of the passages; without one it is the service of the settings, or the model on this
    machine."""
    is_new = app.add_slice(SLICE)
    chosen = embedder or (embedder_for(app.settings) if is_new else None)
    if chosen is not None:
        app.part(Meaning).embedder = chosen

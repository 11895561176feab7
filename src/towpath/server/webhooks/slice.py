"""What webhooks bring to an app: their tables, and the operation that delivers."""

from __future__ import annotations

from importlib.resources import files

from towpath.engine.app import App
from towpath.server.webhooks.delivering import deliver
from towpath.server.webhooks.messages import OPERATION, QUEUE, RETRY
from towpath.store.migrating import Slice

SLICE = Slice(
    "webhooks", files("towpath.server.webhooks") / "migrations", files("towpath.server.webhooks") / "queries"
)  # fmt: skip


def attach(app: App) -> None:
    """Before the app is opened, in servers and in workers."""
    if app.add_slice(SLICE):
        app.operation(OPERATION, queue=QUEUE, retry=RETRY, timeout=60.0)(deliver)

"""What a server and its workers need of an app: tables of accounts and webhooks, and the operation that delivers."""

from __future__ import annotations

from weakref import WeakSet

from towpath import assets, batches, choices, documents, fleet, knowledge, openai_api, recordings
from towpath.core.errors import ConfigurationError
from towpath.engine.app import App
from towpath.identity.slice import SLICE as IDENTITY
from towpath.server import dismissals, webhooks

PRODUCTS = (recordings, batches, knowledge, documents, fleet, openai_api)
"""What this package brings along. Each is attached like anybody's own slice, and brings its routes itself."""
_attached: WeakSet[App] = WeakSet()


def attach(app: App) -> App:
    """Prepares an app for `create_app`. Call it before the app is opened, in servers and in workers; twice is once."""
    if app in _attached:
        return app
    if app.home is not None:
        raise ConfigurationError(
            "the app is open already, and its database may lack the server's tables; "
            "call towpath.server.attach(app) before the app is opened"
        )
    app.add_slice(IDENTITY)
    for part in (choices, assets, webhooks, dismissals, *PRODUCTS):
        part.attach(app)
    _attached.add(app)
    return app

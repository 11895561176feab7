"""What a server and its workers need of an app: tables of accounts and webhooks, and the operations behind them."""

from __future__ import annotations

from typing import Protocol, cast

from towpath.core.errors import ConfigurationError
from towpath.engine.app import App
from towpath.http.identity import SLICE as IDENTITY


class _Marked(Protocol):
    _towpath_server: bool


def attach(app: App) -> App:
    """Prepares an app for `create_app`. Call it before the app is opened, in servers and in workers; twice is once."""
    if getattr(app, "_towpath_server", False):
        return app
    if app.home is not None:
        raise ConfigurationError(
            "the app is open already, and its database may lack the server's tables; "
            "call towpath.server.attach(app) before the app is opened"
        )
    app.add_slice(IDENTITY)
    _attach_webhooks(app)
    cast(_Marked, app)._towpath_server = True
    return app


def _attach_webhooks(app: App) -> None:
    try:
        from towpath.server.webhooks import attach as attach_webhooks
    except ImportError:
        return
    attach_webhooks(app)

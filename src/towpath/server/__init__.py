"""The server: the API over an app's jobs, and the web UI. `create_app(app)` is the ASGI app."""

from towpath.server.assembly import create_app, running
from towpath.server.options import ServerOptions
from towpath.server.slices import attach

__all__ = ["ServerOptions", "attach", "create_app", "running"]

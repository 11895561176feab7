"""Routes that slices bring: said on the app, and put together by whoever serves it.

Importing this pulls in no web framework: workers attach the same slices, and may have none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from towpath.engine.app import App

if TYPE_CHECKING:
    from fastapi import APIRouter


class SliceRoutes:
    """By the slices of one app, in the order in which they came."""

    def __init__(self) -> None:
        self.loaders: list[Callable[[], APIRouter]] = []


def add_routes(app: App, load: Callable[[], APIRouter]) -> None:
    """Adds a slice's routes to every server of this app. `load` answers its `towpath.http.routing.Router`, and is called
    when a server is made: import the routes there. Fixed addresses come before those with an id in them."""
    app.part(SliceRoutes).loaders.append(load)


def routers_of(app: App) -> list[APIRouter]:
    return [load() for load in app.part(SliceRoutes).loaders]

"""An app on a database that exists for one test."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from towpath.config import Settings
from towpath.core.errors import ConfigurationError
from towpath.engine.app import App


@asynccontextmanager
async def temporary_app(
    app: App | None = None,
    *,
    clock: Callable[[], float] | None = None,
    resources: Mapping[str, Callable[[], Any]] | None = None,
) -> AsyncIterator[App]:
    """Opens an app on a new SQLite file in a temporary directory, and removes both afterwards.

    Given your app, it is that very app that moves there for the time being, so code that imports it takes part in the
    test; its settings stay, except for where things are kept. Given none, you get an empty one. With a FakeClock the
    test also decides what time it is, and `resources` stand in for those of the app that have the same names.
    """
    app = app if app is not None else App("sqlite:///unused.db", settings=Settings())
    if app.home is not None:
        raise ConfigurationError("the app is open already; temporary_app() opens it on a database of its own")
    before = app.url, app.settings, app.clock, app.resource_factories
    with tempfile.TemporaryDirectory(prefix="towpath-") as folder:
        app.url = f"sqlite:///{Path(folder) / 'jobs.db'}"
        app.settings = replace(app.settings, database_url=app.url, blobs_url="")
        app.clock = clock or app.clock
        app.resource_factories = app.resource_factories | dict(resources or {})
        try:
            async with app:
                yield app
        finally:
            app.url, app.settings, app.clock, app.resource_factories = before

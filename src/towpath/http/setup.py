"""Puts everything the HTTP room does in front of an assembled server."""

from __future__ import annotations

from fastapi import FastAPI

from towpath.engine.app import App
from towpath.http import problems
from towpath.http.entrance import Entrance
from towpath.http.state import Exposure, exposure_from, remember


def install(api: FastAPI, app: App, exposure: Exposure | None = None) -> None:
    """Call it once, on the server's FastAPI app; `check_policies` comes after its routes have been added."""
    found = exposure or exposure_from(app.settings)
    remember(api, app, found)
    problems.install(api)
    api.add_middleware(Entrance, app=app, exposure=found)

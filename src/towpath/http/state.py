"""What the HTTP room knows about the server it serves; kept on the ASGI app, found from any request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, FastAPI, Request

from towpath.config import Settings
from towpath.engine.app import App


@dataclass(frozen=True, slots=True)
class Exposure:
    """How the server is reached. `local` is the mode without passwords, for a server bound to loopback."""

    local: bool = False
    base_path: str = ""
    base_url: str = ""
    allowed_hosts: str = ""
    trusted_proxies: str = ""


def exposure_from(settings: Settings, *, local: bool = False) -> Exposure:
    return Exposure(local, settings.base_path, settings.base_url, settings.allowed_hosts, settings.trusted_proxies)


def remember(api: FastAPI, app: App, exposure: Exposure) -> None:
    api.state.towpath_app = app
    api.state.towpath_exposure = exposure


def app_of(request: Request) -> App:
    app: App = request.app.state.towpath_app
    return app


Engine = Annotated[App, Depends(app_of)]
"""A parameter of a route: the app behind the server."""


def exposure_of(request: Request) -> Exposure:
    exposure: Exposure = request.app.state.towpath_exposure
    return exposure


def base_url_of(request: Request) -> str:
    """Where people reach this server: as the settings say, or as this request came."""
    given = exposure_of(request).base_url.rstrip("/")
    root = str(request.scope.get("root_path", "")).rstrip("/")
    return given or f"{request.url.scheme}://{request.url.netloc}{root}"

"""The session's cookie."""

from __future__ import annotations

from fastapi import Request, Response

from towpath.config import Settings
from towpath.identity.devices import LASTS
from towpath.identity.sessions import NewSession

COOKIE = "towpath_session"
DEVICE = "towpath_device"
"""By which a browser is known that somebody has logged in from; it opens nothing."""


def set_session(request: Request, response: Response, new: NewSession, settings: Settings) -> None:
    _set(request, response, COOKIE, new.secret, round(settings.session_days * 86400))
    _set(request, response, DEVICE, new.new_device, round(LASTS.total_seconds()))


def clear_session(request: Request, response: Response) -> None:
    _set(request, response, COOKIE, "", 0)


def _set(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    """Out of reach of scripts, not sent along from other sites, and only to the path the server is mounted at."""
    response.set_cookie(
        name, value, max_age=seconds, path=request.scope.get("root_path") or "/", secure=request.url.scheme == "https",
        httponly=True, samesite="lax",
    )  # fmt: skip


set_cookie = _set

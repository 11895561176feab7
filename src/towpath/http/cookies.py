"""The session's cookie."""

from __future__ import annotations

from fastapi import Request, Response

from towpath.config import Settings

COOKIE = "towpath_session"


def set_session(request: Request, response: Response, secret: str, settings: Settings) -> None:
    _set(request, response, COOKIE, secret, round(settings.session_days * 86400))


def clear_session(request: Request, response: Response) -> None:
    _set(request, response, COOKIE, "", 0)


def _set(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    """Out of reach of scripts, not sent along from other sites, and only to the path the server is mounted at."""
    response.set_cookie(
        name, value, max_age=seconds, path=request.scope.get("root_path") or "/", secure=request.url.scheme == "https",
        httponly=True, samesite="lax",
    )  # fmt: skip


set_cookie = _set

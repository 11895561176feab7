"""Routes that know who calls before they read what was sent.

FastAPI reads and parses a body first and asks its dependencies afterwards, the policy among them. Here it is the other way
round: nobody who may not call a route makes the server read a byte of theirs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from towpath.core.encoding import DEEPEST, deeper_than
from towpath.core.errors import ConfigurationError
from towpath.http.policy import policy_of, routes_of

MOST_VALUES = 500_000
"""Reading JSON holds up every other request of the process, by about a tenth of a second for so many values."""
_ENVELOPE = 1
"""The levels of a request around a payload."""


_PARAMETER = re.compile(r"\{[^}]*\}")


class AskedRequest(Request):
    """A request whose JSON is bounded in more than its bytes: it is cheap to write what is expensive to read."""

    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = _parsed(await self.body())
        return self._json


def _parsed(body: bytes) -> Any:
    opened = body.count(b"[") + body.count(b"{")
    if opened + body.count(b",") > MOST_VALUES:
        detail = f"the body has more than {MOST_VALUES:,} values; send less, or upload it as a file and pass its id"
        raise HTTPException(422, detail)  # the one kind of error that FastAPI lets through while it reads
    try:
        value = json.loads(body)
    except RecursionError:
        raise _too_deep() from None
    if opened > DEEPEST and deeper_than(value, DEEPEST + _ENVELOPE):
        raise _too_deep()
    return value


def _too_deep() -> HTTPException:
    return HTTPException(422, f"the body is nested more than {DEEPEST} levels deep; send a flatter structure")


class GuardedRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle, policy = super().get_route_handler(), policy_of(self)

        async def guarded(request: Request) -> Response:
            if policy is not None:
                await policy(request)
            return await handle(AskedRequest(request.scope, request.receive))

        return guarded


class Router(APIRouter):
    """For every route of the server; `check_policies` refuses others."""

    def __init__(self, **options: Any) -> None:
        super().__init__(route_class=GuardedRoute, **options)


def check_addresses(api: FastAPI) -> None:
    """Refuses an app in which one route hides another: the first one that fits would answer for both."""
    known: dict[tuple[str, str], str] = {}
    for route in routes_of(api.routes):
        for method in sorted(getattr(route, "methods", None) or ()) if isinstance(route, APIRoute) else ():
            address = (method, _PARAMETER.sub("{}", route.path))
            if address in known:
                raise ConfigurationError(
                    f"two routes have the same address: {method} {route.path} and {known[address]}; "
                    f"put your slice's name into those of yours, such as /api/shop/…"
                )
            known[address] = route.path


def check_policies(api: FastAPI, *, open_paths: Iterable[str] = ()) -> None:
    """Refuses an app with a route that has no policy. `open_paths` are those of plain routes and mounts that are meant
    for everyone, such as the UI's files."""
    given = {*open_paths, api.openapi_url, api.docs_url, api.redoc_url, api.swagger_ui_oauth2_redirect_url}
    bare = []
    for route in routes_of(api.routes):
        path = getattr(route, "path", repr(route))
        if path not in given and not (isinstance(route, GuardedRoute) and policy_of(route) is not None):
            bare.append(path)
    if bare:
        raise ConfigurationError(
            f"these routes have no policy, so nobody may call them: {', '.join(sorted(bare))}; "
            f"give each a parameter such as `principal: Reader`, on a towpath.http.routing.Router"
        )

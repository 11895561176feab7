"""Who may call a route. Every route names its policy in its signature; one that names none is refused at start-up.

async def cancel(principal: Writer, …)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, get_origin

from fastapi import Depends, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import APIKeyCookie, HTTPBearer
from pydantic import BaseModel

from towpath.engine.registry import check_label
from towpath.http.authentication import authenticate
from towpath.http.cookies import COOKIE
from towpath.http.problems import Problem
from towpath.identity.principal import ADMIN, READ, WRITE, Principal

_BEARER = HTTPBearer(auto_error=False, scheme_name="token", description="An API token: `tow_…`")
_COOKIE = APIKeyCookie(name=COOKIE, auto_error=False, scheme_name="session", description="A browser's session")


class Policy:
    """The rule of one route; answers the principal it lets in."""

    scope: str | None = None
    """What the principal must be allowed; None: nothing in particular."""

    def judge(self, principal: Principal | None) -> Principal | None:
        if principal is None:
            raise Problem(
                "unauthenticated", 401, "this needs a session or an API token, and there is none or it no longer holds",
                remedy="log in, or send `Authorization: Bearer tow_…`", headers={"WWW-Authenticate": "Bearer"},
            )  # fmt: skip
        if self.scope is not None and not principal.may(self.scope):
            raise Problem(
                "forbidden", 403, f"this needs the scope {self.scope!r}, which this {principal.via} does not have",
                remedy="ask an administrator, or use a token that has it",
            )  # fmt: skip
        return principal

    async def __call__(self, request: Request) -> Principal | None:
        """Is asked before the body is read, and again as a dependency of the route."""
        raise NotImplementedError


class Guard(Policy):
    """For everyone who is logged in and has the scope."""

    def __init__(self, scope: str | None = None) -> None:
        self.scope = scope

    async def __call__(
        self,
        request: Request,
        _bearer: Annotated[Any, Security(_BEARER)] = None,
        _cookie: Annotated[Any, Security(_COOKIE)] = None,
    ) -> Principal | None:
        refuse_unknown_query(request)
        return self.judge(await authenticate(request))


class TokenGuard(Policy):
    """For programs: an API token in the header. A browser's cookie opens nothing here, so no page can use it."""

    def __init__(self, scope: str) -> None:
        self.scope = scope

    async def __call__(self, request: Request, _bearer: Annotated[Any, Security(_BEARER)] = None) -> Principal | None:
        refuse_unknown_query(request)
        principal = await authenticate(request) if "authorization" in request.headers else None
        return self.judge(principal)


class Open(Policy):
    """For everyone. It does not even look who it is, so that health can be asked about while the database is away."""

    def __init__(self, *, any_query: bool = False) -> None:
        self.any_query = any_query

    async def __call__(self, request: Request) -> None:
        if not self.any_query:
            refuse_unknown_query(request)


Reader = Annotated[Principal, Depends(Guard(READ))]
"""Everyone who may look."""
Writer = Annotated[Principal, Depends(Guard(WRITE))]
"""Everyone who may change something."""
TokenReader = Annotated[Principal, Depends(TokenGuard(READ))]
"""Programs that may look."""
TokenWriter = Annotated[Principal, Depends(TokenGuard(WRITE))]
"""Programs that may change something."""
Admin = Annotated[Principal, Depends(Guard(ADMIN))]
"""Administrators, by session or by a token that has the scope."""
Caller = Annotated[Principal, Depends(Guard())]
"""Everyone who is logged in, whatever their scopes."""
Anyone = Annotated[None, Depends(Open())]
"""Also nobody in particular: for health, logging in, and the UI's own files. `authenticate(request)` tells who it is."""
Arriving = Annotated[None, Depends(Open(any_query=True))]
"""Sent here by somebody else, who may have put parameters of their own into the address."""


def tenant_of(principal: Principal, asked: str | None) -> str | None:
    """The tenant a list is about; None is all of them, which only administrators get."""
    if asked is None:
        return None if principal.admin else principal.tenant
    if principal.admin:
        return check_label("tenant", asked)
    if asked == principal.tenant:
        return asked
    remedy = "switch to it first: POST /api/session/tenant" if asked in principal.tenants else None
    raise Problem("forbidden", 403, "this session or token acts for another tenant", remedy=remedy)


def require_session(principal: Principal) -> None:
    """For what a token must not do, such as changing a password."""
    if principal.via == "token":
        raise Problem("forbidden", 403, "this needs a browser's session; an API token is not enough")


def refuse_unknown_query(request: Request) -> None:
    """A misspelt filter must not silently mean `everything`."""
    route = request.scope.get("route")
    if not request.query_params or not isinstance(route, APIRoute):
        return
    if unknown := sorted(set(request.query_params) - query_names(route)):
        raise Problem(
            "invalid", 422, f"unknown query parameter: {', '.join(unknown)}"[:200],
            remedy=f"known are: {', '.join(sorted(query_names(route))) or 'none'}",
            errors=[(name[:100], "there is no such query parameter") for name in unknown[:20]],
        )  # fmt: skip
    given, lists = request.query_params, frozenset(_names_in(route.dependant, lists_only=True))
    if repeated := sorted(name for name in set(given) - lists if len(given.getlist(name)) > 1):
        raise Problem(
            "invalid", 422, f"given more than once: {', '.join(repeated)}",
            errors=[(name, "it can be given only once") for name in repeated],
        )  # fmt: skip


def query_names(route: APIRoute) -> frozenset[str]:
    found: frozenset[str] | None = getattr(route, "towpath_query_names", None)
    if found is None:
        found = frozenset(_names_in(route.dependant))
        route.towpath_query_names = found  # type: ignore[attr-defined]  # remembered where it belongs
    return found


def _names_in(dependant: Any, *, lists_only: bool = False) -> Iterator[str]:
    for field in dependant.query_params:
        kind = field.field_info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found = [(item.alias or name, item.annotation) for name, item in kind.model_fields.items()]
        else:
            found = [(field.alias, kind)]
        yield from (name for name, taken in found if not lists_only or get_origin(taken) is list)
    for below in dependant.dependencies:
        yield from _names_in(below, lists_only=lists_only)


def policy_of(route: APIRoute) -> Policy | None:
    for item in route.dependant.dependencies:
        call: Any = item.call
        if isinstance(call, Policy):
            return call
    return None


def routes_of(routes: Iterable[Any]) -> Iterator[Any]:
    """Every route, those of included routers too."""
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is not None:
            yield from routes_of(included.routes)
        else:
            yield route

"""What an address takes. A wrong method is told apart from a wrong address, and told which ones are right."""

from __future__ import annotations

from fastapi import Request
from starlette.routing import Route, compile_path

from towpath.http.policy import routes_of
from towpath.http.problems import Problem

_EVERYTHING = frozenset({"/{path:path}"})
"""Routes that take what no other one does; the UI's page is such a one."""


def nothing_there(request: Request) -> Problem:
    """For a request that no route took."""
    methods = methods_at(request)
    if not methods:
        return Problem("not_found", 404, "there is nothing at this address")
    return Problem(
        "invalid", 405, f"this address does not take {request.method[:20]}",
        remedy=f"it takes {', '.join(methods)}", headers={"Allow": ", ".join(methods)},
    )  # fmt: skip


def methods_at(request: Request) -> list[str]:
    root, path = str(request.scope.get("root_path", "")), str(request.scope["path"])
    below = path[len(root) :] if root and path.startswith(root) else path
    found: set[str] = set()
    for route in routes_of(request.app.routes):
        if isinstance(route, Route) and route.path not in _EVERYTHING and compile_path(route.path)[0].match(below):
            found |= set(route.methods or ())
    return sorted(found)

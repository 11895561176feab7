"""/docs: the API for people to read. It describes the program and nobody's data, so it is open like the OpenAPI document."""

from __future__ import annotations

from html import escape

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from towpath.http.policy import Anyone
from towpath.http.routing import Router
from towpath.server.manual import STYLE, page

router = Router(include_in_schema=False)

_FRESH = {"Cache-Control": "no-cache"}


def _root(request: Request) -> str:
    return str(request.scope.get("root_path", "")).rstrip("/")


@router.get("/docs", operation_id="read_manual", response_class=HTMLResponse)
async def read_manual(_anyone: Anyone, request: Request) -> HTMLResponse:
    made: str | None = getattr(request.app.state, "towpath_manual", None)
    if made is None:
        made = request.app.state.towpath_manual = page(request.app.openapi(), "{base}", ui=request.app.state.towpath_ui)
    return HTMLResponse(made.replace('<base href="{base}">', f'<base href="{escape(_root(request))}/">', 1), headers=_FRESH)


@router.get("/docs/style.css", operation_id="style_manual", response_class=Response)
async def style_manual(_anyone: Anyone) -> Response:
    return Response(STYLE, media_type="text/css", headers=_FRESH)


@router.get("/openapi.json", operation_id="find_openapi", response_class=RedirectResponse)
async def find_openapi(_anyone: Anyone, request: Request) -> RedirectResponse:
    """Where other servers have it."""
    return RedirectResponse(f"{_root(request)}/api/openapi.json", 308)


@router.get("/redoc", operation_id="find_manual", response_class=RedirectResponse)
async def find_manual(_anyone: Anyone, request: Request) -> RedirectResponse:
    return RedirectResponse(f"{_root(request)}/docs", 308)

"""The web UI's files: hashed assets are kept for ever, the page itself is always asked for anew."""

from __future__ import annotations

import html
import mimetypes
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response

from towpath.http.methods import methods_at, nothing_there

UI = files("towpath.server") / "ui"
PATHS = ("/{path:path}",)

_NO_PAGES = frozenset({"api", "assets", "docs", "openapi", "redoc", "swagger", "swagger-ui", "v1"})
"""No page of the UI begins like these, nor with a word that has a dot in it."""
_IMMUTABLE = "public, max-age=31536000, immutable"
_NOT_BUILT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Towpath</title></head>
<body><h1>The web UI has not been built</h1>
<p>The API works; only the pages are missing. In a checkout, build them with <code>make web</code> and reload.
An installed package brings them along.</p></body></html>
"""


def install(api: FastAPI, root: Traversable = UI) -> None:
    """Serves the UI at every address that no route has; unknown addresses below /api stay errors."""

    async def page(request: Request) -> Response:
        path = request.path_params["path"]
        if methods_at(request):
            raise nothing_there(request)  # somebody else's address, asked in a way that it does not take
        found = _file(root, path)
        if found is None and _is_no_page(path):
            raise nothing_there(request)
        return found or _index(root, request)

    api.router.add_route("/{path:path}", page, methods=["GET", "HEAD"], include_in_schema=False)


def _is_no_page(path: str) -> bool:
    """What programs ask for must not be answered by a page and 200: scripts of an old page after an upgrade, descriptions of
    the API under the names that other servers have for them, files such as `openapi.yaml` and `robots.txt`."""
    first = path.split("/", maxsplit=1)[0]
    return first in _NO_PAGES or ("." in first and path != "index.html")


def _file(root: Traversable, path: str) -> Response | None:
    parts = path.split("/")
    if not path or path == "index.html" or any(part in ("", ".", "..") or "\\" in part for part in parts):
        return None
    found = root
    for part in parts:
        found = found / part
    if not found.is_file():
        return None
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    cache = _IMMUTABLE if parts[0] == "assets" else "no-cache"
    return Response(found.read_bytes(), media_type=kind, headers={"Cache-Control": cache})


def _index(root: Traversable, request: Request) -> Response:
    page = root / "index.html"
    if not page.is_file():
        return HTMLResponse(_NOT_BUILT, 503, headers={"Cache-Control": "no-store"})
    base = html.escape(f"{request.scope.get('root_path', '').rstrip('/')}/", quote=True)
    text = page.read_text("utf-8").replace("<head>", f'<head><base href="{base}">', 1)
    return HTMLResponse(text, headers={"Cache-Control": "no-cache"})

"""Where `towpath search` looks: in a database that is at hand, or through a server. Both answer in the API's shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from towpath import search
from towpath.cli.asking import ask, server_at
from towpath.cli.data import exists, missing_database, opening, usual_database
from towpath.core.errors import ConfigurationError
from towpath.core.records import DEFAULT_TENANT
from towpath.engine.app import App
from towpath.knowledge.scope import Scope
from towpath.knowledge.shaping import result_shape

Found = dict[str, Any]


async def find_here(database: str | None, asked: Mapping[str, Any], tenant: str | None) -> Found:
    if not search.is_installed():
        raise ConfigurationError("there is nothing to search with; install it: pip install 'towpath[local]'")
    app = App(database or usual_database(), migrate_on_start=False, blobs_on_start=False)
    search.attach(app)
    if not exists(app.url):
        raise missing_database(app.url)
    scope = Scope(**{name: asked.get(name) for name in ("run", "type", "entity", "document_id", "recording_id")})
    async with opening(app):
        found = await search.find(
            app, tenant or DEFAULT_TENANT, asked["q"], filter=scope.filter(), how=asked["how"], limit=asked["limit"]
        )
    return {"results": [result_shape(hit).model_dump(mode="json") for hit in found.hits], "next": found.after}


async def find_there(server: str, token: str | None, asked: Mapping[str, Any], tenant: str | None) -> Found:
    params = {name: value for name, value in (dict(asked) | {"tenant": tenant}).items() if value is not None}
    async with server_at(server, token) as client:
        found: Found = (await ask(client, "GET", "/api/documents/search", params=params)).json()
        return found

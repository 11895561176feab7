"""What is named in a tenant's sources, and where."""

from __future__ import annotations

from collections.abc import Sequence

from towpath import App, from_json
from towpath.search.paging import start as place
from towpath.search.recognizing import SHOWN
from towpath.search.records import Entity, Listed, Mention
from towpath.search.words import folded

MOST = 500


async def entities(
    app: App, tenant: str, *, type: str | None = None, begins: str = "", limit: int = 50, after: str | None = None,
    of: tuple[str, str] | None = None,
) -> tuple[list[Entity], str | None]:  # fmt: skip
    """Those in most passages first; `begins` is the beginning of a key, however it is typed, and `of` the kind and id of the
    one source that is looked into. With them comes what asks for the next page."""
    start = place(limit, after, MOST)
    asked = {
        "tenant": tenant,
        "types": _types(type),
        "begins": _escaped(folded(begins)) + "%",
        "limit": limit + 1,
        "skipped": start,
    }
    if of is None:
        rows = await app.query("search_entities", **asked)
    else:
        rows = await app.query("search_entities_of", kind=of[0], id=of[1], **asked)
    found = [Entity(row["type"], row["key"], row["value"], row["passages"], row["sources"]) for row in rows]
    return found[:limit], str(start + limit) if len(found) > limit else None


async def sources_of(
    app: App, tenant: str, type: str, key: str, *, limit: int = 50, after: str | None = None
) -> tuple[list[Listed], str | None]:
    """The sources that name an entity, those that do so most first."""
    start = place(limit, after, MOST)
    if type not in SHOWN:
        return [], None
    rows = await app.query("search_entity_sources", tenant=tenant, type=type, key=key, limit=limit + 1, skipped=start)
    found = [Listed(row["kind"], row["id"], row["title"], from_json(row["facts"]), row["passages"]) for row in rows]
    return found[:limit], str(start + limit) if len(found) > limit else None


async def mentions_in(app: App, tenant: str, kind: str, id: str) -> list[tuple[int, Mention]]:
    """Every entity of one source in its order, with the ordinal of the passage."""
    rows = await app.query("search_mentions_of", tenant=tenant, kind=kind, id=id, types=list(SHOWN))
    return [(row["ordinal"], Mention(row["type"], row["value"], row["key"], row["starts"], row["ends"])) for row in rows]


def _types(type: str | None) -> Sequence[str]:
    """Also of what an earlier release has found, only types that are right often enough are shown."""
    return [one for one in SHOWN if type in (None, one)]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")

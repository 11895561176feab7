"""Passages read back."""

from __future__ import annotations

from towpath import App, Fatal, Row, from_json
from towpath.search.records import Stored

_MOST_AROUND = 20


class PassageNotFound(Fatal, LookupError):
    def __init__(self, passage_id: str) -> None:
        super().__init__(f"no passage has the id {passage_id[:200]!r}; its source may have been changed or removed")


async def passage(app: App, tenant: str, passage_id: str, *, around: int = 0) -> list[Stored]:
    """The passage, with up to so many of its neighbours on each side, in the order of the source."""
    place = _place(passage_id)
    if place is None:
        raise PassageNotFound(passage_id)
    kind, source_id, ordinal = place
    width = max(0, min(around, _MOST_AROUND))
    rows = await app.query(
        "search_passages_around", tenant=tenant, kind=kind, id=source_id, first=ordinal - width, last=ordinal + width
    )
    found = [stored(row) for row in rows]
    if not any(one.ordinal == ordinal for one in found):
        raise PassageNotFound(passage_id)
    return found


async def has(app: App, tenant: str, kind: str, id: str) -> bool:
    """Whether anything of a source is in the index."""
    return bool(await app.query("search_sources_by_id", tenant=tenant, kind=kind, ids=[id]))


def stored(row: Row) -> Stored:
    return Stored(
        f"{row['kind']}/{row['id']}/{row['ordinal']}", row["kind"], row["id"], row["title"], row["ordinal"], row["text"],
        row["page"], row["second"], row["lasts"], row["starts"], row["ends"], from_json(row["facts"]),
        tuple((start, second) for start, second in from_json(row["moments"] or "[]")),
    )  # fmt: skip


def _place(passage_id: str) -> tuple[str, str, int] | None:
    """Kinds have no slash; ids of sources may."""
    kind, _, rest = passage_id.partition("/")
    source_id, _, ordinal = rest.rpartition("/")
    if not source_id or not (ordinal.isascii() and ordinal.isdigit() and len(ordinal) < 9):
        return None
    return kind, source_id, int(ordinal)

"""Runs, items and documents as they are stored: looking them up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from towpath import App, Context, TowpathError
from towpath.documents.records import Document, Item, Run, document_from, item_from, run_from
from towpath.http.shapes import LAST

Source = App | Context
"""Whoever reads: an app, or a running operation."""


class NotFound(TowpathError, LookupError):
    """There is none of this id, or it belongs to somebody else."""


async def runs(source: Source, ids: Iterable[str]) -> list[Run]:
    asked = list(dict.fromkeys(ids))
    return [run_from(row) for row in await source.query("document_runs_by_id", ids=asked)] if asked else []


async def run_or_none(source: Source, run_id: str) -> Run | None:
    found = await runs(source, [run_id])
    return found[0] if found else None


async def run(source: Source, run_id: str, *, tenant: str | None = None) -> Run:
    """The run, if there is one and it is this tenant's; `tenant=None` is for those who may see all."""
    found = await run_or_none(source, run_id)
    if found is None or (tenant is not None and found.tenant != tenant):
        raise NotFound(f"no run has the id {run_id[:100]!r}; it may have been deleted")
    return found


async def runs_page(source: Source, tenant: str | None, *, before: str | None, limit: int) -> list[Run]:
    """Newest first; `before` is the last id of the page before. `tenant=None` is all of them."""
    rows = await source.query("document_runs_page", tenant=tenant, before=before or LAST, limit=limit)
    return [run_from(row) for row in rows]


async def items(source: Source, ids: Iterable[str]) -> list[Item]:
    asked = list(dict.fromkeys(ids))
    return [item_from(row) for row in await source.query("document_items_by_id", ids=asked)] if asked else []


async def item(source: Source, item_id: str) -> Item | None:
    found = await items(source, [item_id])
    return found[0] if found else None


async def item_ids(source: Source, run_id: str) -> list[str]:
    return [row["id"] for row in await source.query("document_items_ids", run_id=run_id)]


async def items_page(source: Source, run_id: str, *, after: int, limit: int) -> list[Item]:
    """In the order of the run, those after a number."""
    rows = await source.query("document_items_page", run_id=run_id, after=after, limit=limit)
    return [item_from(row) for row in rows]


async def items_of_document(source: Source, document_id: str, *, before: str | None, limit: int) -> list[Item]:
    """What it was read for, in whichever run, the newest first."""
    rows = await source.query("document_items_of_document", document_id=document_id, before=before or LAST, limit=limit)
    return [item_from(row) for row in rows]


async def documents(source: Source, ids: Iterable[str]) -> list[Document]:
    asked = list(dict.fromkeys(ids))
    return [document_from(row) for row in await source.query("documents_by_id", ids=asked)] if asked else []


async def document(source: Source, document_id: str, *, tenant: str | None = None) -> Document:
    found = await documents(source, [document_id])
    if not found or (tenant is not None and found[0].tenant != tenant):
        raise NotFound(f"no document has the id {document_id[:100]!r}; it may have been deleted")
    return found[0]


async def documents_page(
    source: Source, tenant: str | None, *, before: str | None, limit: int, text: str | None = None
) -> Sequence[Document]:
    """Newest first; `text` is a part of the title or of where it comes from."""
    like = None if text is None else f"%{_escaped(text.lower())}%"
    rows = await source.query("documents_page", tenant=tenant, before=before or LAST, limit=limit, text=like)
    return [document_from(row) for row in rows]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")

"""What the routes share: runs, items and documents that the caller may see."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from towpath import App
from towpath.documents import stored
from towpath.documents.intake import Owner
from towpath.documents.records import Document, Item, Run
from towpath.http.problems import not_found
from towpath.identity.principal import Principal

RunPath = Annotated[str, Path(description="The run's id.")]
ItemPath = Annotated[str, Path(description="The item's id.")]
DocumentPath = Annotated[str, Path(description="The document's id.")]


def _tenant(principal: Principal) -> str | None:
    return None if principal.admin else principal.tenant


async def own_run(app: App, principal: Principal, run_id: str) -> Run:
    """Somebody else's answers like one that does not exist."""
    try:
        return await stored.run(app, run_id.lower(), tenant=_tenant(principal))
    except stored.NotFound as error:
        raise not_found(str(error)) from None


async def own_item(app: App, principal: Principal, run_id: str, item_id: str) -> Item:
    run = await own_run(app, principal, run_id)
    found = await stored.item(app, item_id.lower())
    if found is None or found.run_id != run.id:
        raise not_found(f"this run has no item {item_id[:100]!r}")
    return found


async def own_document(app: App, principal: Principal, document_id: str) -> Document:
    try:
        return await stored.document(app, document_id.lower(), tenant=_tenant(principal))
    except stored.NotFound as error:
        raise not_found(str(error)) from None


def owner_of(principal: Principal) -> Owner:
    return Owner(principal.tenant, principal.account_id, principal.name)

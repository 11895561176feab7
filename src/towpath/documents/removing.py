"""Deleting runs and documents. Both are out of sight at once; what takes its time is finished by a job if need be."""

from __future__ import annotations

from typing import Any

from towpath import App, Context, RetryLater, Transaction, assets, search
from towpath.documents.names import DOCUMENT, INDEX_KIND, REMOVE, RUN
from towpath.documents.records import Document, Run

_LATER = 5.0


async def remove_run(app: App, run: Run) -> int:
    """With its items and jobs, whatever they are doing. The documents that it has read stay."""

    async def unit(tx: Transaction) -> tuple[int, str | None]:
        marked = await tx.change("document_runs_remove", ids=[run.id], now=tx.now)
        await tx.tell(RUN, run.id, tenant=run.tenant)
        later = await tx.enqueue(REMOVE, {"run": run.id}, tenant=run.tenant, delay=_LATER) if marked else None
        return marked, later

    marked, later = await app.transact(unit)
    if later is not None and await _finish(app, run.id):
        await app.remove([later])  # nothing is left for it to do
    return marked


async def remove_later(app: App, ctx: Context, payload: dict[str, Any]) -> None:
    """What `remove_run` began."""
    if not await _finish(app, payload["run"]):
        raise RetryLater("a job of it has a handler that has not ended yet", _LATER)


async def _finish(app: App, run_id: str) -> bool:
    removed = await app.subjects.delete(RUN, run_id)
    if not all(why == "not found" for why in removed.refused.values()):
        return False

    async def unit(tx: Transaction) -> None:
        for query in ("document_holds_of_run", "document_items_delete", "document_runs_delete"):
            await tx.change(query, ids=[run_id])

    await app.transact(unit)
    return True


async def remove_document(app: App, document: Document) -> int:
    """With what is indexed of it, and its file if no other document is made of that."""

    async def unit(tx: Transaction) -> tuple[int, bool]:
        if not await tx.query("document_lock", id=document.id):
            return 0, False
        await search.remove(tx, document.tenant, INDEX_KIND, document.id)
        await tx.change("document_holds_forget", ids=[document.id])
        gone = await tx.change("documents_delete", ids=[document.id])
        await tx.tell(DOCUMENT, document.id, tenant=document.tenant)
        used = await tx.query("document_asset_users", asset_id=document.asset_id)
        return gone, not used

    gone, alone = await app.transact(unit)
    await app.subjects.delete(search.questions_about(INDEX_KIND), document.id)
    if gone and alone:
        await assets.delete(app, document.tenant, [document.asset_id])
    return gone

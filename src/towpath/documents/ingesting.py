"""The operation of a run: its items are children, and it ends when the last of them has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from towpath import App, Children, ChildrenFailed, Context, Fatal, Partial
from towpath.documents import stored
from towpath.documents.listing import list_bucket
from towpath.documents.names import BUCKET, ITEM, READ


@dataclass(slots=True)
class Asked:
    run_id: str


class Ingesting:
    """The operation, bound to its app."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def run(self, ctx: Context, asked: Asked) -> dict[str, Any] | Partial:
        run = await stored.run_or_none(ctx, asked.run_id)
        if run is None:
            raise Fatal("the run was deleted")
        if run.kind == BUCKET:
            await ctx.step("LISTED", list_bucket, ctx, run)
        ids = await stored.item_ids(ctx, run.id)
        if not ids:
            return {"items": 0}
        children = await ctx.gather(
            READ, ({"item_id": one} for one in ids), subject=lambda payload: (ITEM, payload["item_id"]), partial_ok=True
        )
        return _ended(children)


def _ended(children: Children) -> dict[str, Any] | Partial:
    counts = {"items": children.total, "done": children.succeeded, "failed": children.failed}
    if children.all_ok:
        return counts
    words = f"{children.failed:,} of {children.total:,} documents were not read"
    if children.failed == children.total:
        raise ChildrenFailed(words, children=children)
    return Partial(counts, words)

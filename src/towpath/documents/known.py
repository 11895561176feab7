"""Whether something has been sent to be read before: a file by where it comes from and its content, an address by itself.

Whoever sends a folder again sends only what is new in it, and goes on with what was interrupted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from towpath import App, assets
from towpath.documents import stored
from towpath.documents.intake import source_of_address, source_of_file
from towpath.documents.names import FAILED
from towpath.documents.options import Options, options_from
from towpath.documents.records import Item, item_from
from towpath.documents.status import CANCELLED, COMPLETED, PENDING, RUNNING
from towpath.documents.views import ItemView, item_views


@dataclass(frozen=True, slots=True)
class Asked:
    """A file's source and the digest of its content, or an address."""

    source: str | None = None
    sha256: str | None = None
    url: str | None = None

    @property
    def known_by(self) -> str:
        return source_of_address(self.url) if self.url else source_of_file(self.source or "")


async def known(
    app: App, tenant: str, asked: Sequence[Asked], settings: Mapping[str, Any]
) -> list[ItemView | None]:  # fmt: skip
    """For each the item that stands for it, if it was sent with the same settings and is the newest of its source. What
    is at an address may have changed since, so only an item that is still under way stands for one."""
    sources = list(dict.fromkeys(one.known_by for one in asked))
    rows = await app.query("document_items_of_sources", tenant=tenant, sources=sources) if sources else []
    items = {item.source: item for item in map(item_from, rows)}
    runs = {run.id: run for run in await stored.runs(app, [item.run_id for item in items.values()])}
    wanted = _compared(options_from(settings))
    same = [
        item for item in items.values()
        if item.run_id in runs and _compared(options_from(runs[item.run_id].settings, item.settings)) == wanted
    ]  # fmt: skip
    digests = await _digests(app, tenant, same)
    views = {view.item.source: view for view in await item_views(app, same)}
    there = {one.id for one in await stored.documents(app, [item.document_id for item in same if item.document_id])}
    return [_standing(one, views.get(one.known_by), digests, there) for one in asked]


def _compared(options: Options) -> Options:
    """What a run may spend changes nothing of what becomes of a document."""
    return replace(options, budget_cents=None)


async def _digests(app: App, tenant: str, items: Sequence[Item]) -> dict[str, str | None]:
    found = await assets.get_all(app, tenant, [item.asset_id for item in items if item.asset_id])
    return {asset.id: asset.sha256 for asset in found.values()}


def _standing(
    one: Asked, view: ItemView | None, digests: Mapping[str, str | None], there: set[str]
) -> ItemView | None:  # fmt: skip
    if view is None:
        return None
    if one.url is not None:
        return view if view.status in (PENDING, RUNNING) else None
    if digests.get(view.item.asset_id or "") != (one.sha256 or "").lower():
        return None
    if view.status == COMPLETED:
        return view if view.item.document_id in there else None
    return view if view.status in (PENDING, RUNNING, FAILED, CANCELLED) and view.job_id else None

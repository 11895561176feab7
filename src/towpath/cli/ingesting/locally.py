"""Documents read on this machine: the data directory is opened, and a worker runs in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from towpath import assets
from towpath.batches.lines import pieces_of
from towpath.cli.data import database_in
from towpath.cli.ingesting.place import Shape
from towpath.core.records import DEFAULT_TENANT
from towpath.documents import attach, intake, moving, stored
from towpath.documents.intake import Given, Owner, Wanted
from towpath.documents.known import Asked, known
from towpath.documents.names import CARE_QUEUE, QUEUE
from towpath.documents.run_views import run_views
from towpath.documents.shaping import item_shape, run_shape
from towpath.documents.views import item_views
from towpath.engine.app import App

_OWNER = Owner(DEFAULT_TENANT)


class OnThisMachine:
    def __init__(self, app: App) -> None:
        self._app = app

    def source_of(self, path: Path) -> str:
        return str(path.absolute())

    async def known(self, asked: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> list[Shape | None]:
        found = await known(self._app, DEFAULT_TENANT, [Asked(**one) for one in asked], settings)
        return [None if view is None else item_shape(view).model_dump(mode="json") for view in found]

    async def upload(self, path: Path) -> str:
        asset = await assets.receive(
            self._app, DEFAULT_TENANT, path.name, pieces_of(path), kinds=None, created_by=None
        )  # fmt: skip
        return asset.id

    async def begin(
        self, kind: str, items: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], title: str | None
    ) -> str:
        wanted = Wanted(kind, [Given(**one) for one in items], settings, title=title)
        run_id, _ = await intake.create(self._app, wanted, _OWNER)
        return run_id

    async def retry(self, run_id: str, item_ids: Sequence[str]) -> set[str]:
        try:
            done = await moving.retry(self._app, await stored.run(self._app, run_id), items=item_ids)
        except (moving.NotNow, stored.NotFound):
            return set(item_ids)
        return set(done.refused)

    async def run(self, run_id: str) -> Shape:
        [view] = await run_views(self._app, [await stored.run(self._app, run_id)])
        return run_shape(view).model_dump(mode="json")

    async def items(self, run_id: str, after: int, limit: int) -> list[Shape]:
        found = await item_views(self._app, await stored.items_page(self._app, run_id, after=after, limit=limit))
        return [item_shape(view).model_dump(mode="json") for view in found]


@asynccontextmanager
async def on_this_machine(data: Path, concurrency: int) -> AsyncIterator[OnThisMachine]:
    """The data directory with a worker on it until the end. A server may run on it as well."""
    app = App(database_in(data))
    attach(app)
    async with app:
        worker = asyncio.create_task(app.run_worker([QUEUE, CARE_QUEUE], concurrency, name="towpath ingest"))
        try:
            yield OnThisMachine(app)
        finally:
            worker.cancel()
            with suppress(asyncio.CancelledError):
                await worker

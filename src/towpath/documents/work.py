"""What a step is handed: its item, and what the steps before it have made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from towpath import App, Context
from towpath.documents import results
from towpath.documents.names import CONTENT_EXTRACTED
from towpath.documents.options import Options
from towpath.documents.records import Item, Run
from towpath.search import Page


@dataclass(slots=True)
class Work:
    """One item in one entry of its job. `outputs` has what each step that is done has answered, by its name."""

    app: App
    ctx: Context
    run: Run
    item: Item
    options: Options
    outputs: dict[str, Any] = field(default_factory=dict)
    _pages: list[Page] | None = None

    @property
    def tenant(self) -> str:
        return self.item.tenant

    def output(self, step: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.outputs[step]
        return found

    async def pages(self) -> list[Page]:
        """The text, page by page. `offset` is where a page begins in the whole of it."""
        if self._pages is None:
            body = await results.body(self.ctx, self.tenant, self.output(CONTENT_EXTRACTED)["result"])
            self._pages = await self.ctx.in_thread(results.pages_from, body)
        return self._pages

"""Things with text as tests see them: put into the index by their tenants, asked about over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from tests.server.api.site import Site, ok, opened_site
from towpath import App, Transaction, search
from towpath.search import Line, Page, Source

GUIDE = "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b01"
WALK = "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b02"
THEIRS = "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b03"
RUN = "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b04"
PAGES = [
    Page("The kitten naps on the couch beside the stove.", 1),
    Page("Dr. Helen Brandt paid 1,250.00 EUR for the lock gates on 12 March 2025.", 2),
    Page("Barges wait below the bridge until the keeper has had lunch.", 3),
]
LINES = [
    Line("Good morning everyone.", 0.0, 2.0),
    Line("The heron waits by the lock.", 2.5, 5.0),
    Line("Helen opens the gates at nine.", 6.0, 9.0),
]


class Library:
    """`ann` has a guide of three pages, which came with a run, and a recording; `bob`, of another tenant, has a note."""

    def __init__(self, site: Site) -> None:
        self.site, self.app = site, site.app
        self.ann, self.bob, self.root = site.ann, site.bob, site.root

    async def fill(self) -> None:
        tags = [f"run:{RUN}", "type:pdf"]
        guide = Source("north", "document", GUIDE, title="Guide", language="en", tags=tags, facts={"kind": "pdf"})
        await self.put(guide, search.passages_of(PAGES))
        walk = Source("north", "recording", WALK, title="Walk", tags=["type:recording"], facts={"kind": "recording"})
        await self.put(walk, search.passages_of_lines(LINES))
        theirs = Source("south", "document", THEIRS, title="Theirs", tags=["type:pdf"], facts={"kind": "pdf"})
        await self.put(theirs, search.passages_of([Page("A kitten of the south, and Dr. Hidden Person.", 1)]))

    async def put(self, source: Source, passages: list[search.Passage]) -> None:
        vectors = search.embedded([one.text for one in passages])

        async def unit(tx: Transaction) -> None:
            await search.replace(tx, source, passages, vectors)

        await self.app.transact(unit)

    async def results(self, by: httpx.AsyncClient | None = None, **asked: Any) -> list[dict[str, Any]]:
        return ok(await (by or self.ann).get("/api/documents/search", params=asked))["results"]


@asynccontextmanager
async def opened_library(app: App) -> AsyncIterator[Library]:
    async with opened_site(app) as site:
        library = Library(site)
        await library.fill()
        yield library

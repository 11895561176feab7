"""Documents as somebody reads them in a browser: a folder is given, a run is watched, and what it read is at hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.browser.place import Place
from tests.engine.working import eventually
from tests.extraction import papers
from towpath import Transaction, assets, documents, search
from towpath.documents import intake, stored
from towpath.documents.intake import Given, Owner, Wanted
from towpath.documents.run_views import run_views
from towpath.search import Line, Source

GATES = "Dr. Helen Brandt paid 1,250.00 EUR for the lock gates on 12 March 2025."
WALK = "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b02"


def folder() -> dict[str, bytes]:
    """What is in it, by its path: five that can be read, a broken one, and what nobody means to send."""
    return {
        "canal/guide.pdf": papers.pdf(
            "The kitten naps on the couch beside the stove of the lock keeper.",
            f"{GATES} The gates are of oak, and were hung by two men in a day.",
            "Barges wait below the bridge until the keeper has had lunch.",
            title="A guide to the canal",
        ),
        "canal/letters/tolls.docx": papers.docx_of("Every horse pays a toll of seven guilders at the lower lock."),
        "canal/letters/again.txt": b"The water was high in spring, and the towpath was under it for a week.",
        "canal/letters/copy.txt": b"The water was high in spring, and the towpath was under it for a week.",
        "canal/notes.md": b"# Locks\n\nThe keeper opens the gates at nine, and closes them at dusk.",
        "canal/broken.pdf": b"%PDF-1.4\nnothing more",
        "canal/.hidden": b"left alone",
    }


def write(files: Mapping[str, bytes], below: Path) -> Path:
    """On disk, for a field that takes a folder; answers the folder."""
    for path, data in files.items():
        place = below / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return below / next(iter(files)).split("/")[0]


class Shelf:
    """What a tenant has read, without a browser."""

    def __init__(self, place: Place, tenant: str) -> None:
        self.app, self.tenant = place.app, tenant

    async def send(self, files: Mapping[str, bytes], **settings: Any) -> str:
        """A run of these files; answers its id."""
        given = [Given(asset_id=await self._asset(path, data), source=path) for path, data in files.items()]
        return await self._make(Wanted("upload", given, settings))

    async def fetch(self, urls: Sequence[str]) -> str:
        return await self._make(Wanted("url", [Given(url=url) for url in urls]))

    async def read(self, files: Mapping[str, bytes], **settings: Any) -> str:
        """The same, once it has ended."""
        run_id = await self.send(files, **settings)
        await self.ended(run_id)
        return run_id

    async def ended(self, run_id: str) -> None:
        async def has_ended() -> bool:
            [view] = await run_views(self.app, [await stored.run(self.app, run_id)])
            return view.status not in ("PENDING", "RUNNING")

        await eventually(has_ended, within=60)

    async def item(self, run_id: str, name: str) -> Any:
        found = await stored.items_page(self.app, run_id, after=-1, limit=100)
        return next(one for one in found if one.name == name)

    async def document(self, name: str) -> Any:
        found = await stored.documents_page(self.app, self.tenant, before=None, limit=100)
        return next(one for one in found if one.name == name)

    async def walk(self) -> None:
        """A recording that the index has."""
        lines = [Line("The heron waits by the lock.", 2.5, 5.0), Line("Helen opens the gates at nine.", 6.0, 9.0)]
        passages = search.passages_of_lines(lines)
        source = Source(
            self.tenant,
            "recording",
            WALK,
            title="A walk along the canal",
            tags=["type:recording"],
            facts={"kind": "recording"},
        )

        async def unit(tx: Transaction) -> None:
            await search.replace(tx, source, passages, search.embedded([one.text for one in passages]))

        await self.app.transact(unit)

    async def _make(self, wanted: Wanted) -> str:
        run_id, _ = await intake.create(self.app, wanted, Owner(self.tenant))
        return run_id

    async def _asset(self, path: str, data: bytes) -> str:
        async def pieces() -> AsyncIterator[bytes]:
            yield data

        name = path.rpartition("/")[2]
        return (await assets.receive(self.app, self.tenant, name, pieces(), kinds=None, created_by=None)).id


class Gate:
    """Holds every document back before it is stored, until a test lets it pass. Made before the app is used."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()

    def shut(self) -> None:
        self._open.clear()

    def lift(self) -> None:
        self._open.set()

    async def pass_through(self, _work: documents.Work) -> dict[str, Any]:
        await self._open.wait()
        return {}

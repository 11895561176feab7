"""An app with search, and short ways to fill and ask it."""

from collections.abc import Sequence

from towpath import App, Transaction, search
from towpath.search import Filter, Found, Passage, Source

TABLES = ("source", "tag", "passage", "words", "vectors", "mention")


class Shelf:
    def __init__(self, app: App) -> None:
        self.app = app

    async def put(self, id: str, *texts: str, tenant: str = "ann", kind: str = "note", meaning: bool = True, **more) -> None:
        source = Source(tenant, kind, id, **more)
        passages = [search.Passage(text, page=page, mentions=search.mentions(text)) for page, text in enumerate(texts, 1)]
        await self.put_passages(source, passages, meaning=meaning)

    async def put_passages(self, source: Source, passages: Sequence[Passage], *, meaning: bool = True) -> None:
        vectors = search.embedded([passage.text for passage in passages]) if meaning and passages else None

        async def unit(tx: Transaction) -> None:
            await search.replace(tx, source, passages, vectors)

        await self.app.transact(unit)

    async def take(self, id: str, *, tenant: str = "ann", kind: str = "note") -> bool:
        return await self.app.transact(lambda tx: search.remove(tx, tenant, kind, id))

    async def ask(self, question: str, *, tenant: str = "ann", **options) -> list[str]:
        """Ids of the sources that were found, the best first."""
        found = await self.found(question, tenant=tenant, **options)
        return [hit.passage.source_id for hit in found.hits]

    async def found(self, question: str, *, tenant: str = "ann", filter: Filter | None = None, **options) -> Found:
        return await search.find(self.app, tenant, question, filter=filter, **options)

    async def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        before = "towpath_" if self.app.url.startswith("sqlite") else "towpath."

        async def unit(now) -> dict[str, int]:
            counted = {}
            for table in TABLES:
                [row] = await now.fetch(f"SELECT count(*) AS rows FROM {before}search_{table}")
                counted[table] = row["rows"]
            return counted

        return await self.app.read(unit)

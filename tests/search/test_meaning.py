"""Vectors: compared in memory or by pgvector, seen across processes, and found however they are kept."""

import numpy as np
import pytest

from tests.search.shelf import Shelf
from towpath import App, Settings, search, to_json
from towpath.search.databases import database
from towpath.search.meaning import OnThisMachine
from towpath.search.memory import Matrix, Memory


class TwoWords:
    """A model that knows two words."""

    name, dimensions = "two-words", 2

    def embed(self, texts):
        rows = np.array([[text.lower().count("sea"), text.lower().count("hill")] for text in texts], dtype=np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=rows, where=lengths > 0)


async def test_what_another_process_has_written_is_seen(shelf: Shelf, database_url: str, settings: Settings):
    """Another app is another process to the cache: nothing but the database is shared."""
    await shelf.put("a", "A kitten naps on the couch.")
    assert await shelf.ask("cat", how="meaning") == ["a"]
    other = App(database_url, settings=settings)
    search.attach(other)
    async with other:
        theirs = Shelf(other)
        await theirs.put("b", "The cat sleeps.")
        assert set(await shelf.ask("cat", how="meaning")) == {"a", "b"}
        await theirs.put("b", "Tax rates rose.")
        assert (await shelf.ask("taxes", how="meaning"))[0] == "b"
        await theirs.take("a")
        assert await shelf.ask("cat", how="meaning") == ["b"]


async def test_postgres_compares_by_itself_and_sqlite_in_memory(shelf: Shelf):
    at = await shelf.app.read(database)
    assert (at.dialect, at.near) in {("sqlite", False), ("postgres", True)}
    assert await search.prepare(shelf.app) is at.near


async def test_postgres_without_pgvector_finds_the_same_and_takes_it_up_later(postgres_url: str, settings: Settings):
    app = App(postgres_url, settings=settings)
    search.attach(app)
    async with app:
        await app.transact(lambda tx: tx.execute("DROP TABLE towpath.search_near"))
        shelf = Shelf(app)
        await shelf.put("cat", "A kitten naps on the couch.", "And the dog barks.")
        await shelf.put("tax", "Tax rates rose in May.", "")
        before = await shelf.found("sleeping cats", how="meaning")
        assert await search.prepare(app)
        assert (await app.read(database)).near
        after = await shelf.found("sleeping cats", how="meaning")
        assert [hit.passage.id for hit in after.hits] == [hit.passage.id for hit in before.hits]
        await shelf.put("more", "Cats.")
        assert "more" in await shelf.ask("sleeping cats", how="meaning")


async def test_the_graph_finds_what_comparing_one_by_one_finds(postgres_url: str, settings: Settings):
    app = App(postgres_url, settings=settings)
    search.attach(app)
    async with app:
        shelf = Shelf(app)
        for tenant in ("ann", "bob"):
            texts = [f"Row {number} is about {'cats' if number % 9 == 0 else 'taxes'} of {tenant}." for number in range(60)]
            await shelf.put("a", *texts, tenant=tenant)
            await shelf.put("b", f"Cats of {tenant}.", tenant=tenant)
        [row] = OnThisMachine().embed(["cats"])
        asked = to_json([float(value) for value in row])

        async def nearest(few: int, sources: list[int] | None) -> list[int]:
            rows = await app.query(
                "search_nearest", tenant="ann", model=OnThisMachine.name, dimensions=256, asked=asked, sources=sources,
                most=10, few=few,
            )  # fmt: skip
            return [row["number"] for row in sorted(rows, key=lambda row: (-row["similarity"], row["number"]))]

        [second] = await app.query("search_sources_by_id", tenant="ann", kind="note", ids=["b"])
        for sources in (None, [second["number"]]):
            one_by_one, graph = await nearest(1000, sources), await nearest(0, sources)
            assert graph == one_by_one
            assert len(graph) == (10 if sources is None else 1)


async def test_a_model_of_ones_own_is_asked(database_url: str, settings: Settings):
    app, model = App(database_url, settings=settings), TwoWords()
    search.attach(app, model)
    async with app:
        shelf = Shelf(app)
        for id, text in {"coast": "sea sea hill", "alps": "hill hill", "void": "nothing of it"}.items():
            vectors = search.embedded([text], model)
            source = search.Source("ann", "note", id)
            await app.transact(lambda tx, s=source, t=text, v=vectors: search.replace(tx, s, [search.Passage(t)], v))
        assert (await shelf.ask("sea", how="meaning"))[:2] == ["coast", "alps"]
        await search.prepare(app)
        assert (await shelf.ask("hill", how="meaning"))[:2] == ["alps", "coast"]
        assert await shelf.ask("nothing known", how="meaning") == []


def test_rows_that_go_leave_their_place_to_others():
    matrix = Matrix(2)
    rows = {number: np.array([[number, 1]], dtype="<f2") for number in range(1, 700)}
    for number, row in rows.items():
        matrix.add(number, number * 10, row.tobytes())
    matrix.add(5, 50, rows[5].tobytes())
    matrix.keep(set(range(600, 700)))
    asked = np.array([1, 0], dtype=np.float32)
    assert [one.vectors for one in matrix.nearest(asked, None, 3)] == [699, 698, 697]
    assert [one.vectors for one in matrix.nearest(asked, [6100, 6200], 3)] == [620, 610]
    matrix.add(1000, 1, rows[1].tobytes())
    assert matrix.nearest(asked, [1], 3)[0].vectors == 1000
    assert matrix.size < 600 * 2 * 4


async def test_tenants_that_asked_long_ago_make_room(shelf: Shelf, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("towpath.search.memory._MOST_BYTES", 300_000)
    memory = Memory()
    [row] = OnThisMachine().embed(["cat"])
    for tenant in ("ann", "bob", "ann"):
        await shelf.put("a", "A kitten naps.", tenant=tenant)
        places = await memory.nearest(shelf.app, tenant, OnThisMachine.name, row, None, 5)
        assert len(places) == 1
    assert len(memory._matrices) == 1

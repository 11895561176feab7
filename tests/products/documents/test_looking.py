"""What pages ask about documents: a part of the list, the items of jobs, and what a document was read for."""

from tests.products.documents.library import TEXT, Library
from tests.server.api.site import ok


async def test_documents_are_looked_for_by_title_and_by_where_they_come_from(library: Library) -> None:
    await library.finished(("Tolls 100%.txt", TEXT), ("locks.txt", "The keeper of the lock."))
    for text, names in (("TOLLS", ["Tolls 100%.txt"]), ("100%", ["Tolls 100%.txt"]), ("%o%", []), ("barge", [])):
        found = ok(await library.ann.get("/api/documents", params={"text": text}))["items"]
        assert [one["name"] for one in found] == names


async def test_who_knows_an_item_only_by_its_job_finds_it_with_its_run(library: Library) -> None:
    run, items = await library.finished(("a.txt", TEXT), ("b.txt", "The keeper of the lock."))
    asked = {"id": [items[1]["id"], "00000000-0000-7000-8000-000000000000"]}
    assert ok(await library.ann.get("/api/documents/items", params=asked))["items"] == [items[1]]
    assert ok(await library.bob.get("/api/documents/items", params=asked))["items"] == []
    ok(await library.ann.delete(f"/api/documents/runs/{run['id']}"))
    assert ok(await library.ann.get("/api/documents/items", params=asked))["items"] == []


async def test_a_document_names_what_it_was_read_for_the_newest_first(library: Library) -> None:
    _, [first] = await library.finished(("canal.txt", TEXT))
    document_id = first["document_id"]
    made = ok(await library.ann.post(f"/api/documents/{document_id}/reingest", json={}), 202)
    async with library.working():
        await library.done(made["id"])
    path = f"/api/documents/{document_id}/items"
    newest = ok(await library.ann.get(path, params={"limit": 1}))
    assert [one["run_id"] for one in newest["items"]] == [made["id"]]
    assert newest["items"][0]["reused"]
    rest = ok(await library.ann.get(path, params={"limit": 1, "after": newest["next"]}))
    assert (rest["items"], rest["next"]) == ([first], None)

"""From a file to a passage that is found, over HTTP, on both databases."""

from __future__ import annotations

from tests.extraction import papers
from tests.products.documents.library import STEPS, TEXT, Library
from tests.server.api.site import ok


async def test_a_file_goes_through_every_step_and_is_found(library: Library) -> None:
    run, [item] = await library.finished(("canal.txt", TEXT))
    assert (run["status"], run["count"], run["counts"]["COMPLETED"]) == ("COMPLETED", 1, 1)
    assert [(one["step"], one["done"]) for one in run["steps"]] == [(name, 1) for name in STEPS]
    assert (item["status"], item["step"], item["error"], item["reused"]) == ("COMPLETED", "DONE", None, [])
    assert {one["step"] for one in item["steps"]} == set(STEPS)
    assert all(one["done"] and one["duration_ms"] is not None for one in item["steps"])
    document = await library.document(item)
    assert (document["title"], document["pages"], document["passages"], document["indexed"]) == ("canal.txt", 1, 1, True)
    assert document["embedded"] is not None
    page = ok(await library.ann.get(f"/api/documents/{document['id']}/pages/1"))
    assert page["text"].strip() == TEXT
    file = await library.ann.get(f"/api/documents/{document['id']}/file")
    assert file.content == TEXT.encode()
    assert "attachment" in file.headers["content-disposition"]
    [hit] = await library.found("barges")
    assert (hit.passage.kind, hit.passage.source_id, hit.passage.page) == ("document", document["id"], 1)


async def test_every_transition_is_an_event_with_what_it_used(library: Library) -> None:
    _, [item] = await library.finished(("canal.txt", TEXT))
    events = await library.events(item)
    completed = [one["step"] for one in events if one["kind"] == "step_completed"]
    assert sorted(completed) == sorted(STEPS)
    [embedded] = [one for one in events if one["kind"] == "step_completed" and one["step"] == "EMBEDDED"]
    assert embedded["model"]
    assert embedded["tokens_in"] > 10
    assert embedded["cost_cents"] == 0


async def test_files_of_many_kinds_are_read_by_page(library: Library) -> None:
    run, items = await library.finished(
        ("a.pdf", papers.pdf("a page about horses", "a page about barges")),
        ("b.docx", papers.docx_of("a letter about locks")),
        ("c.html", "<html><title>Tolls</title><p>seven guilders</p></html>"),
        ("d.md", "# Canals\n\nThe keeper of the lock."),
    )
    assert run["status"] == "COMPLETED"
    kinds = {item["name"]: (await library.document(item))["kind"] for item in items}
    assert kinds == {"a.pdf": "PDF", "b.docx": "DOCX", "c.html": "HTML", "d.md": "Markdown"}
    hits = await library.found("barges", filter=None)
    assert (hits[0].passage.page, hits[0].passage.facts["name"]) == (2, "a.pdf")


async def test_one_bad_document_ends_in_the_inbox_and_the_others_are_read(library: Library) -> None:
    run, items = await library.finished(("good.txt", TEXT), ("bad.pdf", b"%PDF-1.4\nnothing more"))
    assert run["status"] == "PARTIAL"
    assert run["warning"] == "1 of 2 documents were not read"
    good, bad = items
    assert good["status"] == "COMPLETED"
    assert (bad["status"], bad["step"]) == ("FAILED", "FAILED")
    assert bad["error"]["category"] == "schema_invalid"
    assert bad["error"]["step"] == "CONTENT_EXTRACTED"
    assert [one["id"] for one in await library.items(run["id"], status="failed")] == [bad["id"]]
    inbox = ok(await library.ann.get("/api/inbox/jobs"))["items"]
    assert [one["id"] for one in inbox] == [bad["job_id"]]


async def test_a_document_goes_with_its_index_rows_and_its_file(library: Library) -> None:
    _, [item] = await library.finished(("canal.txt", TEXT))
    document = await library.document(item)
    assert ok(await library.ann.delete(f"/api/documents/{document['id']}")) == {"deleted": 1}
    assert await library.found("barges") == []
    assert (await library.ann.get(f"/api/documents/{document['id']}")).status_code == 404
    assert (await library.ann.get(f"/api/documents/{document['id']}/file")).status_code == 404


async def test_a_deleted_run_leaves_its_documents(library: Library) -> None:
    run, [item] = await library.finished(("canal.txt", TEXT))
    assert ok(await library.ann.delete(f"/api/documents/runs/{run['id']}")) == {"deleted": 1}
    assert (await library.ann.get(f"/api/documents/runs/{run['id']}")).status_code == 404
    assert (await library.document(item))["indexed"] is True
    assert len(await library.found("barges")) == 1


async def test_a_name_that_is_divided_by_the_end_of_a_passage_is_named_where_it_begins(library: Library) -> None:
    line = "The horses drew the barges along the canal all day,"
    text = f"{line}\nand in the evening the toll was taken by Dr. Helen\nBrandt, who kept the lock. {line}"
    _, [item] = await library.finished(("lines.txt", text), settings={"chunk_tokens": 32})
    passages = [hit.passage.text for hit in await library.found("horses toll lock", limit=50)]
    assert not any("Helen\nBrandt" in one for one in passages), "or else nothing was divided"
    found = ok(await library.ann.get("/api/documents/entities", params={"document_id": item["document_id"]}))["items"]
    assert [(one["name"], one["key"]) for one in found] == [("Dr. Helen Brandt", "helen brandt")]

"""What steps have made is kept as long as a document is made of it or an item may go on with it, and no longer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.engine.working import ended, working
from tests.products.documents.library import TEXT, Library
from tests.server.api.site import ok
from towpath.documents.names import CARE_QUEUE, RESULTS, TIDY

LONG = "\n\n".join(f"{number}. {TEXT}" for number in range(400))
"""Too much for a row: what is made of it is in blobs."""


@pytest.fixture
def swept_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("towpath.documents.tidying._YOUNG", timedelta(seconds=-60))


async def swept(library: Library) -> int:
    async with working(library.app, CARE_QUEUE):
        done = await ended(library.app, await library.app.enqueue(TIDY, queue=CARE_QUEUE, tenant="north"))
    assert done.state == "succeeded", done.error
    return int(done.result["swept"])


async def blobs(library: Library) -> set[str]:
    return {info.key async for info in library.app.blobs.list(RESULTS)}


async def text_of(library: Library, item: dict[str, Any]) -> str:
    return str(ok(await library.ann.get(f"/api/documents/{item['document_id']}/pages/1"))["text"])


@pytest.mark.usefixtures("swept_at_once")
async def test_what_a_document_was_made_of_goes_after_it_and_that_of_others_stays(library: Library) -> None:
    _, [gone, stays] = await library.finished(("gone.txt", LONG), ("stays.txt", LONG.replace("barges", "lighters")))
    assert await swept(library) == 0, "all of it is in use"
    before = await blobs(library)
    ok(await library.ann.delete(f"/api/documents/{gone['document_id']}"))
    assert await swept(library) == 4
    assert 0 < len(await blobs(library)) < len(before)
    assert "lighters" in await text_of(library, stays)
    again, [item] = await library.finished(("again.txt", LONG.replace("barges", "lighters")))
    assert (again["status"], len(item["reused"])) == ("COMPLETED", 4)


async def test_what_was_made_just_now_is_left_for_whoever_comes_with_the_same(library: Library) -> None:
    _, [item] = await library.finished(("canal.txt", TEXT))
    ok(await library.ann.delete(f"/api/documents/{item['document_id']}"))
    assert await swept(library) == 0
    _, [again] = await library.finished(("again.txt", TEXT))
    assert len(again["reused"]) == 4


@pytest.mark.usefixtures("swept_at_once")
async def test_an_item_that_failed_goes_on_with_what_it_had(library: Library) -> None:
    wrong = {"remote": {"CHUNKED": "https://localhost:9/step"}}
    run, [item] = await library.finished(("canal.txt", LONG), settings=wrong)
    assert item["error"]["step"] == "CHUNKED"
    assert await swept(library) == 0
    right = {"settings": {"remote": {"CHUNKED": None}}}
    ok(await library.ann.post(f"/api/documents/runs/{run['id']}/retry", json=right), 202)
    async with library.working():
        run = await library.done(run["id"])
    assert run["status"] == "COMPLETED"
    [item] = await library.items(run["id"])
    assert "barges" in await text_of(library, item)

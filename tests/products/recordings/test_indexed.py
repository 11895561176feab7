"""Transcripts are in the index as they are: when they come, when a line is corrected, and not when they are gone."""

import pytest

from tests.products.recordings.ear import Ear
from tests.products.recordings.studio import QUIET, Studio
from tests.server.api.site import ok
from towpath import search
from towpath.recordings import indexing
from towpath.recordings.names import INDEX
from towpath.search import Filter

SPOKEN = [
    (0.0, 0.3, "Good morning everyone."),
    (0.4, 0.6, "The heron waits by the lock."),
    (0.7, 0.9, "Nobody fishes here."),
]


async def _found(studio: Studio, question: str, tenant: str = "north") -> list[tuple[str, float | None]]:
    found = await search.find(studio.app, tenant, question, how="words")
    return [(hit.passage.source_id, hit.second) for hit in found.hits]


async def _indexed(studio: Studio) -> None:
    """Whatever is queued for the index is done."""
    async with studio.working():
        job = await studio.app.enqueue(INDEX, {})
        await studio.app.result(job.id, timeout=30)
        for waiting in await studio.app.list(operation=INDEX):
            await studio.app.result(waiting.id, timeout=30)


async def test_a_hit_leads_to_the_second_of_the_line_that_says_it(studio: Studio, ear: Ear):
    ear.hears = SPOKEN
    one = await studio.finished(QUIET, "walk.wav", auto_summary="false")
    assert await _found(studio, "herons") == [(one["id"], 0.4)]
    [hit] = (await search.find(studio.app, "north", "heron", filter=Filter(tags=["type:recording"]))).hits
    assert (hit.passage.kind, hit.passage.title) == ("recording", "walk")
    assert hit.passage.second_at(0) == 0.0


async def test_nobody_else_finds_it(studio: Studio, ear: Ear):
    ear.hears = SPOKEN
    await studio.finished(QUIET, auto_summary="false")
    assert await _found(studio, "heron", tenant="south") == []


async def test_a_corrected_line_is_found_by_what_it_says_now(studio: Studio, ear: Ear):
    ear.hears = SPOKEN
    one = (await studio.finished(QUIET, auto_summary="false"))["id"]
    ok(await studio.ann.patch(f"/api/recordings/{one}/transcript/1", json={"text": "The bittern waits by the lock."}))
    await _indexed(studio)
    assert (await _found(studio, "heron"), await _found(studio, "bittern")) == ([], [(one, 0.4)])


async def test_who_speaks_is_not_what_is_said(studio: Studio, ear: Ear):
    ear.hears = SPOKEN
    one = (await studio.finished(QUIET, auto_summary="false"))["id"]
    ok(await studio.ann.patch(f"/api/recordings/{one}/transcript/1", json={"speaker": "Sam"}))
    assert await studio.app.list(operation=INDEX) == []


async def test_a_new_transcription_takes_the_place_of_the_old_one(studio: Studio, ear: Ear):
    ear.hears = SPOKEN
    one = (await studio.finished(QUIET, auto_summary="false"))["id"]
    ear.hears = [(0.1, 0.5, "An otter swims past.")]
    ok(await studio.ann.post(f"/api/recordings/{one}/reprocess", json={}), 202)
    async with studio.working():
        await studio.done(one)
    assert (await _found(studio, "heron"), await _found(studio, "otter")) == ([], [(one, 0.1)])


async def test_a_new_title_comes_with_the_hits(studio: Studio, ear: Ear):
    ear.hears = SPOKEN
    one = (await studio.finished(QUIET, auto_summary="false"))["id"]
    ok(await studio.ann.patch(f"/api/recordings/{one}", json={"title": "By the canal"}))
    await _indexed(studio)
    [hit] = (await search.find(studio.app, "north", "heron", how="words")).hits
    assert hit.passage.title == "By the canal"


async def test_a_deleted_recording_is_not_found_from_that_moment_on(studio: Studio, ear: Ear):
    ear.hears = SPOKEN
    one = (await studio.finished(QUIET, auto_summary="false"))["id"]
    ok(await studio.ann.delete(f"/api/recordings/{one}"))
    assert await _found(studio, "heron") == []
    await indexing.index(studio.app, studio.app, one)
    assert await _found(studio, "heron") == []


async def test_recordings_of_before_there_was_an_index_come_into_it(studio: Studio, ear: Ear):
    ear.hears = SPOKEN
    one = (await studio.finished(QUIET, auto_summary="false"))["id"]
    await studio.app.transact(lambda tx: search.remove(tx, "north", "recording", one))
    await studio.app.transact(lambda tx: tx.change("recording_not_indexed", id=one))
    assert await _found(studio, "heron") == []
    await _indexed(studio)
    assert await _found(studio, "heron") == [(one, 0.4)]
    assert not await studio.app.query("recordings_not_indexed", after="", limit=10)


async def test_a_line_that_is_corrected_while_the_index_is_made_is_not_lost(
    studio: Studio, ear: Ear, monkeypatch: pytest.MonkeyPatch
):
    ear.hears = SPOKEN
    one = (await studio.finished(QUIET, auto_summary="false"))["id"]
    await studio.app.transact(lambda tx: tx.change("recording_not_indexed", id=one))
    really, texts = search.meanings, ["The bittern waits by the lock.", None]

    async def meanings(app: object, passages: object) -> object:
        if (text := texts.pop(0)) is not None:
            ok(await studio.ann.patch(f"/api/recordings/{one}/transcript/1", json={"text": text}))
        return await really(app, passages)

    monkeypatch.setattr(search, "meanings", meanings)
    await indexing.index(studio.app, studio.app, one)
    assert texts == []
    assert (await _found(studio, "heron"), await _found(studio, "bittern")) == ([], [(one, 0.4)])


async def test_a_transcription_does_not_need_the_index(studio: Studio, ear: Ear, monkeypatch: pytest.MonkeyPatch):
    """What it takes is an extra. Somebody who has it puts the recording in later."""
    ear.hears = SPOKEN
    with monkeypatch.context() as without:
        without.setattr(search, "is_installed", lambda: False)
        one = await studio.finished(QUIET, auto_summary="false")
    assert one["status"] == "COMPLETED"
    assert await _found(studio, "heron") == []
    await _indexed(studio)
    assert await _found(studio, "heron") == [(one["id"], 0.4)]

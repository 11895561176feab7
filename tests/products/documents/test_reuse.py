"""The same content with the same settings and models is not read, cut or embedded again, within one tenant; and what comes
from where another document came from is the same document."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from tests.engine.working import eventually
from tests.models.wire_server import Answer, WireServer
from tests.products.documents.library import TEXT, Library, opened_library
from tests.server.api.site import ok
from towpath import App, Settings
from towpath.documents import stored
from towpath.search.meaning import Meaning, OnThisMachine

SECOND = TEXT.replace("barges", "lighters")
MADE = {"CONTENT_EXTRACTED", "CHUNKED", "EMBEDDED", "ENTITY_EXTRACTED"}


async def test_the_same_content_is_reused_by_other_runs_of_the_tenant(library: Library) -> None:
    _, [first] = await library.finished(("one.txt", TEXT))
    assert first["reused"] == []
    _, [second] = await library.finished(("two.txt", TEXT))
    assert set(second["reused"]) == MADE
    assert {one["step"] for one in second["steps"] if one["reused"]} == MADE
    assert second["document_id"] != first["document_id"]
    assert len(await library.found("barges")) == 2


async def test_other_settings_reuse_what_does_not_depend_on_them(library: Library) -> None:
    await library.finished(("one.txt", TEXT))
    _, [other] = await library.finished(("two.txt", TEXT), settings={"chunk_tokens": 32})
    assert set(other["reused"]) == {"CONTENT_EXTRACTED", "ENTITY_EXTRACTED"}


async def test_another_model_embeds_anew_and_nothing_else_is_done_again(library: Library) -> None:
    await library.finished(("one.txt", TEXT))

    class Newer(OnThisMachine):
        name = "newer/model"

    library.app.part(Meaning).embedder = Newer()
    _, [item] = await library.finished(("two.txt", TEXT))
    assert set(item["reused"]) == MADE - {"EMBEDDED"}
    assert (await library.document(item))["embedded"] == "newer/model"


async def test_another_tenant_gets_nothing_that_was_made_for_this_one(library: Library) -> None:
    await library.finished(("one.txt", TEXT))
    asset = await library.file(TEXT, "one.txt", tenant="south")
    run_id = ok(await library.send([{"asset_id": asset}], by=library.bob), 202)["id"]

    async def is_read() -> bool:
        return bool(ok(await library.bob.get(f"/api/documents/runs/{run_id}"))["status"] == "COMPLETED")

    async with library.working():
        await eventually(is_read, within=60)
    [item] = ok(await library.bob.get(f"/api/documents/runs/{run_id}/items"))["items"]
    assert item["reused"] == []


async def test_a_file_of_the_same_source_is_the_same_document_and_only_what_changed_is_new(library: Library) -> None:
    async def send(text: str) -> Any:
        item = {"asset_id": await library.file(text, "canal.txt"), "source": "notes/canal.txt"}
        run_id = ok(await library.send([item]), 202)["id"]
        async with library.working():
            await library.done(run_id)
        return (await library.items(run_id))[0]

    first = await send(TEXT)
    second = await send(TEXT.replace("barges", "lighters"))
    assert second["document_id"] == first["document_id"]
    assert second["reused"] == []
    assert await library.found('"barges"') == []
    assert len(await library.found('"lighters"')) == 1
    third = await send(TEXT.replace("barges", "lighters"))
    assert set(third["reused"]) == MADE


class TestOrder:
    """Which content a document has does not depend on which of two runs comes to its end first."""

    @staticmethod
    async def send(library: Library, text: str) -> str:
        item = {"asset_id": await library.file(text, "canal.txt"), "source": "notes/canal.txt"}
        return str(ok(await library.send([item]), 202)["id"])

    @staticmethod
    async def retried(library: Library, run_id: str) -> Any:
        ok(await library.ann.post(f"/api/documents/runs/{run_id}/retry", json={}), 202)
        async with library.working():
            await library.done(run_id)
        [item] = await library.items(run_id)
        assert item["status"] == "COMPLETED", item
        return item

    async def test_what_was_sent_first_and_is_read_last_does_not_replace_what_was_sent_after_it(
        self, library: Library
    ) -> None:
        first = await self.send(library, TEXT)
        ok(await library.ann.post(f"/api/documents/runs/{first}/cancel"))
        second = await self.send(library, SECOND)
        async with library.working():
            await library.done(second)
        [newer] = await library.items(second)
        older = await self.retried(library, first)
        assert older["document_id"] == newer["document_id"]
        assert (older["superseded"], newer["superseded"]) == (True, False)
        assert await library.found('"barges"') == []
        assert len(await library.found('"lighters"')) == 1
        assert (await library.document(newer))["sha256"] == hashlib.sha256(SECOND.encode()).hexdigest()

    async def test_an_older_content_that_is_sent_again_is_the_newest(self, library: Library) -> None:
        for text in (TEXT, SECOND, TEXT):
            run = await self.send(library, text)
            async with library.working():
                await library.done(run)
        assert len(await library.found('"barges"')) == 1
        assert await library.found('"lighters"') == []

    async def test_a_document_that_is_read_again_does_not_hold_up_what_was_sent_before_and_comes_after(
        self, library: Library
    ) -> None:
        first = await self.send(library, TEXT)
        async with library.working():
            await library.done(first)
        [item] = await library.items(first)
        second = await self.send(library, SECOND)
        ok(await library.ann.post(f"/api/documents/runs/{second}/cancel"))
        async with library.working():
            again = ok(await library.ann.post(f"/api/documents/{item['document_id']}/reingest", json={}), 202)["id"]
            await library.done(again)
        await self.retried(library, second)
        assert len(await library.found('"lighters"')) == 1
        assert await library.found('"barges"') == []


class TestAddresses:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return replace(settings, allow_private_urls=True)

    @pytest.fixture
    async def library(self, database_url: str, settings: Settings) -> AsyncIterator[Library]:
        async with opened_library(App(database_url, settings=settings)) as library:
            yield library

    async def test_an_address_is_read_again_and_what_has_changed_there_is_found(self, library: Library) -> None:
        with WireServer() as site:
            site.always = lambda asked: Answer(f"<html><p>{TEXT}</p></html>".encode(), 200, {"content-type": "text/html"})
            address = f"{site.root}/tolls?page=2&key=hush"
            run_id = ok(await library.send([{"url": address}], kind="url"), 202)["id"]
            async with library.working():
                run = await library.done(run_id)
                [item] = await library.items(run_id)
                assert run["status"] == "COMPLETED", item["error"]
                assert "hush" not in str(run) + str(item) + str(await library.events(item))
                document = await library.document(item)
                assert document["kind"] == "HTML"
                kept = await stored.item(library.app, item["id"])
                assert kept is not None
                assert kept.address == f"{site.root}/tolls", "once it is read, what may be a secret is kept once"
                again = await self._again(library, document["id"])
                assert set(again["reused"]) == MADE
                changed = TEXT.replace("barges", "lighters")
                site.always = lambda asked: Answer(f"<html><p>{changed}</p></html>".encode())
                again = await self._again(library, document["id"])
            assert again["document_id"] == document["id"]
            assert again["reused"] == []
            assert await library.found('"barges"') == []
            assert len(await library.found('"lighters"')) == 1
            assert "hush" in site.asked[-1].path, "it is asked for as it was given"

    async def _again(self, library: Library, document_id: str) -> Any:
        run_id = ok(await library.ann.post(f"/api/documents/{document_id}/reingest", json={}), 202)["id"]
        run = await library.done(run_id)
        assert (run["status"], run["kind"]) == ("COMPLETED", "reingest")
        return (await library.items(run_id))[0]

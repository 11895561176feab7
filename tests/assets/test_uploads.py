"""Resumable uploads over HTTP, as clients of the tus protocol see them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.assets import media
from tests.assets.test_receiving import left
from tests.assets.tus import BYTES, VERSION, Notes, begin, begun, metadata, offset_of, send
from tests.server.api.site import Site, ok, problem
from towpath import assets
from towpath.assets import uploads
from towpath.assets.tidying import tidy
from towpath.assets.uploads import appending, turns

DATA = media.sound("wav", 2.0)
HALF = len(DATA) // 2


async def test_a_file_comes_in_pieces_and_is_handed_over_when_it_is_whole(site: Site, notes: Notes):
    where = await begun(site.ann, len(DATA), "talk.wav", title="hello", language="en")
    first = await send(site.ann, where, 0, DATA[:HALF])
    assert (first.status_code, first.headers["upload-offset"]) == (204, str(HALF))
    assert first.headers["tus-resumable"] == "1.0.0"
    assert await offset_of(site.ann, where) == HALF
    assert ok(await site.ann.get(where))["state"] == "uploading"
    assert notes.given == []
    assert (await send(site.ann, where, HALF, DATA[HALF:])).status_code == 204
    shown = ok(await site.ann.get(where))
    asset_id = shown["id"]
    assert (shown["state"], shown["result"], shown["name"]) == ("done", {"id": f"note-{asset_id}"}, "talk.wav")
    assert notes.given == [("ann", asset_id, {"title": "hello", "language": "en"})]
    assert (await site.ann.get(f"/api/assets/{asset_id}/content")).content == DATA
    assert await left(site.app) == [f"assets/{asset_id}/content"]
    usage = ok(await site.ann.get("/api/assets/usage"))
    assert usage == {"bytes": len(DATA), "assets": 1, "quota": None}


async def test_a_file_can_come_with_the_request_that_begins_it(small_site: Site, notes: Notes):
    from tests.assets.tus import metadata

    headers = VERSION | {"Upload-Length": str(len(DATA)), "Upload-Metadata": metadata(filename="a.wav", purpose="note")}
    response = await small_site.ann.post("/api/uploads", headers=headers | {"Content-Type": BYTES}, content=DATA)
    assert (response.status_code, response.headers["upload-offset"]) == (201, str(len(DATA)))
    assert len(notes.given) == 1


class Stalled:
    """A body that stops in the middle, as after a broken connection of which the server has not heard."""

    def __init__(self, start: int) -> None:
        self.start, self.stalls = start, asyncio.Event()

    async def body(self) -> Any:
        yield DATA[self.start : self.start + 10]
        self.stalls.set()
        await asyncio.Event().wait()


async def test_who_comes_back_ends_the_request_that_is_still_at_it_and_loses_nothing(site: Site, notes: Notes):
    where, stalled = await begun(site.ann, len(DATA)), Stalled(0)
    async with asyncio.timeout(30):
        before = asyncio.create_task(send(site.ann, where, 0, stalled.body()))
        await stalled.stalls.wait()
        assert await offset_of(site.ann, where) == 0
        back = await send(site.ann, where, 0, DATA)
        assert (await before).headers["upload-offset"] == "10"
    problem(back, 409, "conflict")
    assert back.headers["upload-offset"] == "10"
    assert (await send(site.ann, where, 10, DATA[10:])).status_code == 204
    assert (await site.ann.get(f"/api/assets/{notes.given[0][1]}/content")).content == DATA


async def test_however_many_send_at_once_one_part_at_a_time_is_stored(site: Site, notes: Notes):
    """What lies there before anybody has won is outside of every quota."""
    where, first, others = await begun(site.ann, len(DATA)), Stalled(0), [Stalled(0) for _ in range(4)]
    async with asyncio.timeout(30):
        before = asyncio.create_task(send(site.ann, where, 0, first.body()))
        await first.stalls.wait()
        answers = [*await asyncio.gather(*[send(site.ann, where, 0, one.body()) for one in others]), await before]
    assert sorted(answer.status_code for answer in answers) == [204, 409, 409, 409, 409]
    assert {answer.headers["upload-offset"] for answer in answers} == {"10"}
    assert not any(one.stalls.is_set() for one in others), "bytes were taken of somebody who had to wait"
    assert len(await left(site.app)) == 1


async def test_of_two_servers_that_go_on_from_the_same_place_one_wins(
    site: Site, notes: Notes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(appending, "turn", each_by_itself)
    where = await begun(site.ann, len(DATA))
    await send(site.ann, where, 0, DATA[:HALF])
    gate = asyncio.Barrier(3)  # all of them have begun, and none has ended

    async def together() -> Any:
        yield DATA[HALF : HALF + 10]
        await gate.wait()
        yield DATA[HALF + 10 :]

    async with asyncio.timeout(30):
        racing = await asyncio.gather(*[send(site.ann, where, HALF, together()) for _ in range(3)])
    statuses = sorted(response.status_code for response in racing)
    assert statuses == [204, 409, 409]
    assert len(notes.given) == 1
    asset_id = notes.given[0][1]
    assert (await site.ann.get(f"/api/assets/{asset_id}/content")).content == DATA
    assert await left(site.app) == [f"assets/{asset_id}/content"]


@asynccontextmanager
async def each_by_itself(_upload_id: str) -> AsyncIterator[turns.Turn]:
    """As if every request had come to another server process."""
    yield turns.Turn()


async def test_what_the_losers_of_such_a_race_have_sent_is_deleted_at_once(
    site: Site, notes: Notes, monkeypatch: pytest.MonkeyPatch
):
    """And not only when the upload ends, which may be days later or never."""
    monkeypatch.setattr(appending, "turn", each_by_itself)
    where = await begun(site.ann, len(DATA))
    await send(site.ann, where, 0, DATA[:HALF])
    before = await left(site.app)
    gate = asyncio.Barrier(3)  # as above

    async def together() -> Any:
        yield DATA[HALF : HALF + 10]
        await gate.wait()

    async with asyncio.timeout(30):
        racing = await asyncio.gather(*[send(site.ann, where, HALF, together()) for _ in range(3)])
    assert sorted(response.status_code for response in racing) == [204, 409, 409]
    assert await offset_of(site.ann, where) == HALF + 10
    after = await left(site.app)
    assert set(before) < set(after)
    assert len(after) == len(before) + 1
    assert (await send(site.ann, where, HALF + 10, DATA[HALF + 10 :])).status_code == 204
    assert (await site.ann.get(f"/api/assets/{notes.given[0][1]}/content")).content == DATA


async def test_bytes_for_another_place_are_refused_with_the_right_one(small_site: Site, notes: Notes):
    where = await begun(small_site.ann, len(DATA))
    response = await send(small_site.ann, where, 5, DATA)
    assert "at byte 0" in problem(response, 409, "conflict")["detail"]
    assert response.headers["upload-offset"] == "0"


async def test_a_body_is_stored_in_parts_so_that_a_broken_one_loses_little(
    small_site: Site, notes: Notes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(appending, "PART", 10_000)
    where = await begun(small_site.ann, len(DATA))
    upload = await uploads.find(small_site.app, where.rsplit("/", 1)[1])
    assert upload is not None

    async def breaking() -> Any:
        yield DATA[:25_000]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await uploads.append(small_site.app, upload, 0, breaking())
    assert await offset_of(small_site.ann, where) == 20_000
    assert (await send(small_site.ann, where, 20_000, DATA[20_000:])).status_code == 204
    assert (await small_site.ann.get(f"/api/assets/{upload.id}/content")).content == DATA


async def test_a_text_file_named_mp3_is_refused_with_its_first_bytes(small_site: Site, notes: Notes):
    text = b"not a song at all\n" * 10_000
    where = await begun(small_site.ann, len(text), "song.mp3")
    refused = problem(await send(small_site.ann, where, 0, text[:50_000]), 422, "invalid")
    assert "'song.mp3' is text" in refused["detail"]
    assert refused["remedy"]
    shown = ok(await small_site.ann.get(where))
    assert (shown["state"], shown["error"]["status"]) == ("failed", 422)
    assert (await small_site.ann.head(where, headers=VERSION)).status_code == 410
    problem(await send(small_site.ann, where, 50_000, text[50_000:]), 409, "conflict")
    assert await left(small_site.app) == []
    assert (await assets.usage(small_site.app, "north")).bytes == 0
    assert notes.given == []


async def test_bytes_that_are_refused_do_not_touch_a_file_that_came_meanwhile(
    site: Site, notes: Notes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(appending, "turn", each_by_itself)
    where = await begun(site.ann, len(DATA))
    text, begins, gate = b"not a song at all\n" * 10_000, asyncio.Event(), asyncio.Event()

    async def late() -> Any:
        yield text[:5000]
        begins.set()
        await gate.wait()
        yield text[5000 : len(DATA)]

    async with asyncio.timeout(60):
        refused = asyncio.create_task(send(site.ann, where, 0, late()))
        await begins.wait()
        assert (await send(site.ann, where, 0, DATA)).status_code == 204
        gate.set()
        assert (await refused).status_code in (409, 422)
    assert ok(await site.ann.get(where))["state"] == "done"
    assert (await site.ann.get(f"/api/assets/{notes.given[0][1]}/content")).content == DATA


async def test_a_file_that_begins_too_small_to_be_judged_is_judged_in_the_end(small_site: Site, notes: Notes):
    text = b"not a song at all\n" * 1_000
    where = await begun(small_site.ann, len(text), "song.mp3")
    assert (await send(small_site.ann, where, 0, text[:10])).status_code == 204
    assert "is text" in problem(await send(small_site.ann, where, 10, text[10:]), 422, "invalid")["detail"]
    assert ok(await small_site.ann.get(where))["state"] == "failed"
    assert await left(small_site.app) == []


async def test_options_are_refused_before_anything_is_sent(small_site: Site, notes: Notes):
    assert "no good title" in problem(await begin(small_site.ann, 10, title="bad"), 422, "invalid")["detail"]
    known = problem(await begin(small_site.ann, 10, purpose="tax"), 422, "invalid")["detail"]
    assert "'tax'" in known
    assert "note" in known
    problem(await begin(small_site.ann, 10, purpose=""), 422, "invalid")


async def test_what_the_purpose_refuses_in_the_end_has_failed_and_is_gone(small_site: Site, notes: Notes):
    where = await begun(small_site.ann, len(DATA), title="late")
    assert "after all" in problem(await send(small_site.ann, where, 0, DATA), 422, "invalid")["detail"]
    assert ok(await small_site.ann.get(where))["state"] == "failed"
    assert await left(small_site.app) == []
    assert (await assets.usage(small_site.app, "north")).bytes == 0


async def test_sizes_and_quotas_are_checked_before_anything_is_sent(site: Site, notes: Notes):
    assert "3,000,000" in problem(await begin(site.ann, 3_000_001), 413, "too_large")["detail"]
    assert "empty" in problem(await begin(site.ann, 0), 422, "invalid")["detail"]
    site.app.settings = replace(site.app.settings, upload_quota_bytes=1000)
    where = await begun(site.ann, 700)
    full = problem(await begin(site.ann, 301), 413, "too_large")
    assert "700 of 1,000 bytes" in full["detail"]
    assert "301" in full["detail"]
    assert (await begin(site.bob, 301)).status_code == 201
    assert (await site.ann.delete(where, headers=VERSION)).status_code == 204
    assert (await begin(site.ann, 1000)).status_code == 201


async def test_more_bytes_than_announced_are_refused(small_site: Site, notes: Notes):
    where = await begun(small_site.ann, HALF)
    problem(await send(small_site.ann, where, 0, DATA), 413, "too_large")

    async def unannounced() -> Any:
        yield DATA

    problem(await send(small_site.ann, where, 0, unannounced()), 413, "too_large")
    assert await offset_of(small_site.ann, where) == 0
    assert await left(small_site.app) == []


async def test_nobody_else_goes_on_with_an_upload(small_site: Site, notes: Notes):
    where = await begun(small_site.ann, len(DATA))
    for person in (small_site.bob, small_site.nobody):
        status = 401 if person is small_site.nobody else 404
        assert (await send(person, where, 0, DATA)).status_code == status
        assert (await person.head(where, headers=VERSION)).status_code == status
        assert (await person.get(where)).status_code == status
        assert (await person.delete(where, headers=VERSION)).status_code == status
    assert await offset_of(small_site.ann, where) == 0


async def test_the_protocol_is_described_and_its_version_asked_for(small_site: Site, notes: Notes):
    described = await small_site.nobody.options("/api/uploads")
    assert described.status_code == 204
    assert described.headers["tus-version"] == "1.0.0"
    assert described.headers["tus-max-size"] == "3000000"
    assert "termination" in described.headers["tus-extension"]
    refused = await small_site.ann.post("/api/uploads", headers={"Upload-Length": "5"})
    problem(refused, 412, "invalid")
    assert refused.headers["tus-version"] == "1.0.0"
    for wrong in ("-1", "x", "", "9" * 30, "٣"):
        headers = VERSION | {"Upload-Length": wrong.encode(), "Upload-Metadata": "purpose bm90ZQ=="}
        problem(await small_site.ann.post("/api/uploads", headers=headers), 422, "invalid")
    for wrong in ("purpose !", "purpose bm90ZQ==,purpose bm90ZQ==", "filename /w==,purpose bm90ZQ=="):
        headers = VERSION | {"Upload-Length": "5", "Upload-Metadata": wrong}
        problem(await small_site.ann.post("/api/uploads", headers=headers), 422, "invalid")
    where = await begun(small_site.ann, 5)
    answered = await small_site.ann.patch(where, headers=VERSION | {"Content-Type": "text/plain"}, content=b"hello")
    assert problem(answered, 415, "invalid")["detail"].endswith(BYTES)


async def test_uploads_nobody_goes_on_with_are_deleted(site: Site, notes: Notes):
    where = await begun(site.ann, len(DATA))
    await send(site.ann, where, 0, DATA[:HALF])
    assert (await tidy(site.app))["abandoned"] == 0
    site.app.settings = replace(site.app.settings, keep_unfinished_uploads_hours=0.0)
    assert (await tidy(site.app))["abandoned"] == 1
    assert (await site.ann.get(where)).status_code == 404
    assert await left(site.app) == []
    assert ok(await site.ann.get("/api/assets/usage"))["bytes"] == 0


async def test_how_an_upload_ended_is_forgotten_after_a_while_and_its_file_is_not(small_site: Site, notes: Notes):
    where = await begun(small_site.ann, len(DATA))
    await send(small_site.ann, where, 0, DATA)
    small_site.app.settings = replace(small_site.app.settings, keep_unfinished_uploads_hours=0.0)
    done = await tidy(small_site.app)
    assert (done["forgotten"], done["abandoned"]) == (1, 0)
    assert (await small_site.ann.get(where)).status_code == 404
    assert (await small_site.ann.get(f"/api/assets/{notes.given[0][1]}/content")).content == DATA


async def test_a_complete_upload_cannot_be_given_up(small_site: Site, notes: Notes):
    where = await begun(small_site.ann, len(DATA))
    await send(small_site.ann, where, 0, DATA)
    problem(await small_site.ann.delete(where, headers=VERSION), 409, "conflict")


@pytest.mark.parametrize("header", ["Upload-Concat", "Upload-Defer-Length", "Upload-Checksum", "Tus-Extension"])
async def test_a_header_of_an_extension_there_is_not_is_refused(small_site: Site, notes: Notes, header: str):
    about = {"Upload-Length": "10", "Upload-Metadata": metadata(filename="a.wav", purpose="note")}
    answer = await small_site.ann.post("/api/uploads", headers=VERSION | about | {header: "1"})
    assert header.lower() in problem(answer, 422, "invalid")["detail"]
    where = await begun(small_site.ann, len(DATA))
    sent = VERSION | {"Upload-Offset": "0", "Content-Type": BYTES, header: "1"}
    problem(await small_site.ann.patch(where, headers=sent, content=DATA), 422, "invalid")
    assert await offset_of(small_site.ann, where) == 0


async def test_options_that_recordings_do_not_take_are_refused_before_anything_is_sent(small_site: Site):
    told = problem(await begin(small_site.ann, 10, purpose="recording", langauge="en"), 422, "invalid")
    assert told["errors"][0]["path"] == "langauge"
    assert "language" in told["detail"]
    assert (await begin(small_site.ann, 10, purpose="recording", language="en", filetype="audio/wav")).status_code == 201

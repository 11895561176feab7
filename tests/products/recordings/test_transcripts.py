"""Reading, searching and correcting lines; exports of many; share links; titles; lists."""

import io
import zipfile

import docx
import pytest

from tests.engine.working import on_sqlite
from tests.products.recordings.ear import Ear
from tests.products.recordings.media import encoded, speech
from tests.products.recordings.studio import Studio
from tests.server.api.site import ok, problem

TALK = encoded(speech("clone-test"), "mp3")


@pytest.fixture
async def talk(studio: Studio, ear: Ear) -> dict:
    ear.hears = [(0.1, 2.0, "Ever tried."), (2.1, 4.0, "Ever failed.")]
    return await studio.finished(TALK, "talk.mp3", title="Beckett", auto_summary="false")


async def test_a_line_is_corrected_searched_and_brought_back(studio: Studio, talk: dict):
    address = f"/api/recordings/{talk['id']}/transcript"
    line = ok(await studio.ann.get(address))["segments"][0]
    changed = ok(await studio.ann.patch(f"{address}/0", json={"text": "Straße <b>nach</b> Süden", "speaker": "Sam"}))
    assert (changed["text"], changed["speaker"], changed["edited"]) == ("Straße <b>nach</b> Süden", "Sam", True)
    assert changed["heard"] == line["heard"]
    late = {"text": "typed over the line as it was before", "was": line["text"]}
    problem(await studio.ann.patch(f"{address}/0", json=late), 409, "conflict")
    found = ok(await studio.ann.get(address, params={"search": "SÜDEN"}))
    assert [one["number"] for one in found["segments"]] == [0]
    assert "Straße" in (await studio.ann.get(f"/api/recordings/{talk['id']}/export", params={"format": "vtt"})).text
    back = ok(await studio.ann.patch(f"{address}/0", json={"text": None, "was": changed["text"]}))
    assert (back["text"], back["edited"], back["speaker"]) == (line["text"], False, "Sam")
    problem(await studio.ann.patch(f"{address}/9999", json={"text": "x"}), 404, "not_found")
    problem(await studio.ann.patch(f"{address}/0", json={"text": "a\u0000b"}), 422, "invalid")

    exported = await studio.ann.get("/api/recordings/export", params={"id": [talk["id"], talk["id"]], "format": "srt"})
    with zipfile.ZipFile(io.BytesIO(exported.content)) as archive:
        assert archive.namelist() == ["Beckett.srt"]
        assert b"-->" in archive.read("Beckett.srt")
    asked = {"id": talk["id"], "format": "docx"}
    with zipfile.ZipFile(io.BytesIO((await studio.ann.get("/api/recordings/export", params=asked)).content)) as archive:
        word = docx.Document(io.BytesIO(archive.read("Beckett.docx")))
    assert any(line["text"] in paragraph.text for paragraph in word.paragraphs)
    printed = await studio.ann.get(f"/api/recordings/{talk['id']}/export", params={"format": "pdf"})
    assert (printed.status_code, printed.headers["content-type"]) == (200, "application/pdf")
    assert printed.content.startswith(b"%PDF-")
    assert 'filename="Beckett.pdf"' in printed.headers["content-disposition"]


@on_sqlite
async def test_many_transcripts_come_in_one_file_under_names_of_their_own(studio: Studio):
    ids = [(await studio.finished(title="Same title"))["id"] for _ in range(2)]
    waiting = (await studio.upload())["id"]
    answer = await studio.ann.get("/api/recordings/export", params={"id": [*ids, waiting]})
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["Same title.txt", "Same title (2).txt"]
    problem(await studio.ann.get("/api/recordings/export", params={"id": waiting}), 404, "not_found")
    problem(await studio.ann.get(f"/api/recordings/{waiting}/export"), 404, "not_found")


async def test_a_shared_recording_can_be_read_by_whoever_has_the_link_until_it_expires(studio: Studio, talk: dict):
    address = f"/api/recordings/{talk['id']}/shares"
    line = f"/api/recordings/{talk['id']}/transcript/0"
    unsaid = ok(await studio.ann.patch(line, json={"text": "What we say in public"}))["heard"]
    made = ok(await studio.ann.post(address, json={"hours": 1}), 201)
    assert made["url"].endswith(f"/shared/{made['secret']}")
    shown = ok(await studio.nobody.get(f"/api/shared/{made['secret']}"))
    assert (shown["title"], shown["with_audio"]) == ("Beckett", False)
    assert talk["id"] not in str(shown)
    assert shown["segments"][0]["text"] == "What we say in public"
    assert unsaid not in str(shown)
    problem(await studio.nobody.get(f"/api/shared/{made['secret']}/audio"), 404, "not_found")
    problem(await studio.nobody.get("/api/shared/guessed"), 404, "not_found")

    aloud = ok(await studio.ann.post(address, json={"with_audio": True}), 201)
    assert (await studio.nobody.get(f"/api/shared/{aloud['secret']}/audio")).content == TALK
    [one, two] = ok(await studio.ann.get(address))
    assert "secret" not in one
    assert (await studio.ann.delete(f"{address}/{two['id']}")).status_code == 204
    problem(await studio.nobody.get(f"/api/shared/{aloud['secret']}"), 404, "not_found")

    await studio.app.services.store.run(_expire)
    problem(await studio.nobody.get(f"/api/shared/{made['secret']}"), 404, "not_found")
    assert ok(await studio.ann.get(address)) == []


async def _expire(tx):
    table = "towpath.recording_share" if tx.dialect == "postgres" else "towpath_recording_share"
    await tx.execute_sql(f"UPDATE {table} SET expires_at = created_at")


@on_sqlite
async def test_audio_is_played_in_parts(studio: Studio, talk: dict):
    address = f"/api/recordings/{talk['id']}/audio"
    whole = await studio.ann.get(address)
    assert (whole.content, whole.headers["content-type"]) == (TALK, "audio/mpeg")
    part = await studio.ann.get(address, headers={"Range": "bytes=100-199"})
    assert (part.status_code, part.content) == (206, TALK[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(TALK)}"
    assert (await studio.ann.get(address, headers={"Range": f"bytes={len(TALK)}-"})).status_code == 416


async def test_a_title_is_changed_and_found(studio: Studio):
    sent = await studio.upload()
    changed = ok(await studio.ann.patch(f"/api/recordings/{sent['id']}", json={"title": "  Board\tmeeting 100% "}))
    assert changed["title"] == "Board meeting 100%"
    await studio.upload()

    async def found(**query):
        return [one["title"] for one in ok(await studio.ann.get("/api/recordings", params=query))["items"]]

    assert await found(text="board MEETING") == ["Board meeting 100%"]
    assert await found(text="0%") == ["Board meeting 100%"]
    assert await found(text="_oard") == []
    problem(await studio.ann.patch(f"/api/recordings/{sent['id']}", json={"title": ""}), 422, "invalid")


async def test_lists_have_pages_and_can_be_asked_for_a_status(studio: Studio):
    ids = [(await studio.upload())["id"] for _ in range(5)]
    ok(await studio.ann.post(f"/api/recordings/{ids[0]}/cancel"))

    async def walk(**query):
        seen, after = [], None
        while True:
            page = ok(await studio.ann.get("/api/recordings", params=query | ({"after": after} if after else {})))
            seen += [one["id"] for one in page["items"]]
            after = page["next"]
            if after is None:
                return seen

    assert await walk(limit=2) == ids[::-1]
    assert await walk(limit=2, status="PENDING") == ids[:0:-1]
    assert await walk(limit=1, status=["cancelled", "Failed"]) == ids[:1]

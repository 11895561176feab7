"""What people upload by mistake or on purpose: each gets a clear message, and nothing crashes or is left behind."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.working import on_sqlite
from tests.products.recordings.media import encoded, silence, speech
from tests.products.recordings.studio import QUIET, Studio
from tests.server.api.site import ok, problem
from towpath import Settings

pytestmark = on_sqlite


def bomb() -> bytes:
    """Twenty megabytes in less than a hundred kilobytes."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("talk.mp3", bytes(20_000_000))
    return held.getvalue()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.2, drain_seconds=0.2, max_recording_hours=0.01,
        max_upload_bytes=4_000_000,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("data", "name", "said"),
    [
        (b"", "empty.mp3", "is empty"),
        (b"Dear diary, today I recorded nothing.\n" * 50, "diary.mp3", "is text"),
        (bomb(), "bomb.mp3", "ZIP archive"),
    ],
)
async def test_what_is_no_audio_is_refused_at_the_door(studio: Studio, data: bytes, name: str, said: str):
    told = problem(await studio.send(data, name), 422, "invalid")
    assert said in told["detail"]
    assert told["remedy"]
    assert (await studio.jobs(), await studio.blobs()) == ([], [])


async def test_a_file_that_is_too_large_is_refused(studio: Studio):
    problem(await studio.send(QUIET + bytes(4_000_000), "large.wav"), 413, "too_large")
    assert await studio.blobs() == []


async def test_damaged_files_fail_with_a_reason_and_are_kept(studio: Studio):
    cut = encoded(speech("beckett"), "mp4")
    cases = {
        "truncated.mp4": cut[: len(cut) // 2],  # the index at its end is missing
        "nothing.wav": encoded(silence(0.1), "wav")[:44],  # a header and no samples
        "noise.mp3": b"ID3\x04\x00\x00\x00\x00\x00\x00" + bytes(range(256)) * 40,
        "three hours.flac": encoded(silence(60), "flac"),  # over the cap of this test: 36 seconds
    }
    sent = {name: await studio.upload(data, name) for name, data in cases.items()}
    async with studio.working():
        found = {name: await studio.done(one["id"]) for name, one in sent.items()}
    assert {name: one["status"] for name, one in found.items()} == dict.fromkeys(cases, "FAILED")
    assert "hours long" in found["three hours.flac"]["error"]
    for one in found.values():
        assert one["error"]
        assert one["job"]["error_remedy"]
        assert (await studio.app.get(one["job"]["id"])).failures == 1  # trying again would not help
        assert (await studio.ann.get(f"/api/recordings/{one['id']}/audio")).status_code == 200


@pytest.mark.parametrize(
    "name", ["../../etc/passwd.wav", "<img src=x onerror=alert(1)>.wav", "a" * 500 + ".wav", "nul\0.wav", ""]
)
async def test_file_names_are_only_shown(studio: Studio, name: str):
    answer = await studio.send(QUIET, name or "x.wav", title=name)
    shown = await studio.get(ok(answer, 202)["id"])
    assert "/" not in shown["file_name"]
    assert "\0" not in shown["file_name"] + shown["title"]
    assert len(shown["title"]) <= 300
    [key] = await studio.blobs()
    assert "passwd" not in key


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"language": "tlh"}, "language"), ({"auto_summary": "perhaps"}, "auto_summary"), ({"priority": "9"}, "priority"),
        ({"colour": "blue"}, "colour"),
    ],
)  # fmt: skip
async def test_options_that_do_not_fit_are_refused_and_nothing_is_kept(studio: Studio, fields: dict, path: str):
    told = problem(await studio.send(QUIET, **fields), 422, "invalid")
    assert path in told["detail"] + str(told.get("errors"))
    assert (await studio.jobs(), await studio.blobs()) == ([], [])


async def test_a_form_without_a_file_is_refused(studio: Studio):
    problem(await studio.ann.post("/upload", files={"other": ("x.wav", QUIET)}), 422, "invalid")
    assert (await studio.ann.post("/upload", json={})).status_code == 415


class TestDeletingByItself:
    """Only where the settings say so."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return replace(settings, delete_failed_uploads=True)

    async def test_a_failed_upload_is_deleted_where_that_is_set(self, studio: Studio):
        kept, failed = (
            await studio.upload(),
            await studio.upload(b"ID3\x04\x00\x00\x00\x00\x00\x00" + bytes(4000), "noise.mp3"),
        )
        async with studio.working():
            assert (await studio.done(kept["id"]))["status"] == "COMPLETED"
            assert (await studio.done(failed["id"]))["status"] == "FAILED"
            await studio.app.result(await studio.app.schedules.fire("recordings.tidy"), timeout=30)
        assert [one["id"] for one in ok(await studio.ann.get("/api/recordings"))["items"]] == [kept["id"]]
        assert [key.split("/")[0] for key in await studio.blobs()] == ["assets"]


class TestRetention:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return replace(settings, keep_recordings_days=1e-9)

    async def test_old_recordings_are_deleted_where_that_is_set(self, studio: Studio):
        await studio.upload()
        async with studio.working():
            await studio.app.result(await studio.app.schedules.fire("recordings.tidy"), timeout=30)
        assert ok(await studio.ann.get("/api/recordings"))["items"] == []
        assert await studio.blobs() == []

"""Decoded audio is limited, too: a few kilobytes can be hours of it."""

import asyncio
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.engine.working import on_sqlite
from tests.products.recordings.ear import Ear
from tests.products.recordings.media import encoded, silence
from tests.products.recordings.studio import Studio
from tests.server.api.site import ok
from towpath import Settings
from towpath.core.errors import SchemaInvalid
from towpath.recordings import decoded_quota

SECOND = 32_000
LONG = encoded(silence(20.0), "flac")
SHORT = encoded(silence(10.0), "flac")


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoded_quota, "STEP", 2 * SECOND)
    monkeypatch.setattr(decoded_quota, "_LATER", 0.1)


@pytest.fixture
def ear(ear: Ear) -> Ear:
    ear.hears = []  # what is heard does not matter here
    return ear


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, decoded_quota_bytes=15 * SECOND)


async def taken(studio: Studio) -> list[int]:
    table = "towpath_recording_decoded" if studio.app.url.startswith("sqlite") else "towpath.recording_decoded"
    rows = await studio.app.services.store.read(lambda tx: tx.fetch_sql(f"SELECT bytes FROM {table}"))
    return [row["bytes"] for row in rows]


async def test_a_small_file_that_is_hours_of_audio_is_stopped_at_the_limit_and_nothing_of_it_is_left(
    studio: Studio, ear: Ear
):
    found = await studio.finished(LONG, "long.flac")
    assert found["status"] == "FAILED"
    assert "480,000 bytes" in found["error"]
    assert "TOWPATH_DECODED_QUOTA_BYTES" in found["job"]["error_remedy"]
    assert [key.split("/")[0] for key in await studio.blobs()] == ["assets"]
    assert await taken(studio) == []


async def test_what_fits_is_counted_while_it_is_there_and_no_longer(studio: Studio, ear: Ear):
    ear.held.clear()
    sent = await studio.upload(SHORT, "short.flac")
    async with studio.working(8):
        await ear.reached.wait()
        assert await taken(studio) == [10 * SECOND]
        ear.held.set()
        assert (await studio.done(sent["id"]))["status"] == "COMPLETED"
    assert await taken(studio) == []
    assert not [key for key in await studio.blobs() if "audio-" in key]


async def test_a_recording_waits_for_the_room_that_another_one_has(studio: Studio, ear: Ear):
    ear.held.clear()
    first = await studio.upload(SHORT, "first.flac")
    async with studio.working(8):
        await ear.reached.wait()
        second = await studio.upload(SHORT, "second.flac")
        waiting = await told(studio, second["job_id"], "bytes for decoded audio are taken")
        assert "goes on when one of them is done" in waiting
        ear.held.set()
        for sent in (first, second):
            assert (await studio.done(sent["id"]))["status"] == "COMPLETED"
    assert await taken(studio) == []


async def test_what_failed_keeps_its_room_for_a_retry_until_it_is_deleted(studio: Studio, ear: Ear):
    ear.failing = SchemaInvalid("the engine does not like it")
    first = await studio.finished(SHORT, "first.flac")
    assert (first["status"], await taken(studio)) == ("FAILED", [10 * SECOND])
    ear.failing = None
    second = await studio.finished(SHORT, "second.flac")
    assert "taken by other recordings of this tenant that failed or were cancelled" in second["error"]
    ok(await studio.ann.delete(f"/api/recordings/{first['id']}"))
    assert (await studio.finished(SHORT, "third.flac"))["status"] == "COMPLETED"
    assert await taken(studio) == []


@on_sqlite
async def test_a_recording_waits_while_the_disk_is_nearly_full(studio: Studio, ear: Ear, monkeypatch: pytest.MonkeyPatch):
    full = namedtuple("full", "total used free")(100, 90, 10)
    monkeypatch.setattr(decoded_quota.shutil, "disk_usage", lambda _: full)
    sent = await studio.upload(SHORT, "short.flac")
    async with studio.working(8):
        assert "free some space" in await told(studio, sent["job_id"], "the disk has 10 bytes left")
        monkeypatch.undo()
        assert (await studio.done(sent["id"]))["status"] == "COMPLETED"


@on_sqlite
async def test_digital_silence_takes_no_room_on_the_disk(studio: Studio, ear: Ear, tmp_path: Path):
    ear.held.clear()
    await studio.upload(SHORT, "short.flac")
    async with studio.working(8):
        await ear.reached.wait()
        [audio] = (tmp_path / "blobs").rglob("audio-*.pcm")
        assert audio.stat().st_size == 10 * SECOND
        assert not np.fromfile(audio, "<i2").any()
        assert audio.stat().st_blocks * 512 < SECOND
        ear.held.set()


async def told(studio: Studio, job_id: str, words: str) -> str:
    """The event of the job that has these words, once there is one."""
    async with asyncio.timeout(60):
        async for event in studio.app.events(job_id=job_id, follow=True):
            if words in (event.message or ""):
                return str(event.message)
    raise AssertionError("the events have ended")

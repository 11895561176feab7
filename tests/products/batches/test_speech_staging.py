"""Inputs are brought to where their provider reads them, and nothing of that is left; secrets of links are kept nowhere."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.engine.working import eventually
from tests.http.serving import answering
from tests.products.batches import speech
from tests.products.batches.speech import AWS, AZURE, GOOGLE, SARVAM, WAVE, SpeechDesk, opened_speech
from tests.products.batches.test_addresses import everything_stored, page
from tests.providers import google
from tests.server.api.site import ok, problem
from towpath import Settings
from towpath.batches import links
from towpath.providers.simulator import Fault

Opening = Callable[..., Any]
SECRET = "signed-by-a-friend"


@pytest.fixture
def opening(sqlite_url: str, settings: Settings) -> Opening:
    """A desk of one provider with some settings more."""

    def opened(asked: speech.Speech, simulator: Any = None, **more: Any) -> Any:
        return opened_speech(sqlite_url, replace(settings, **more), asked, simulator)

    return opened


@asynccontextmanager
async def never_ending(desk: SpeechDesk, inputs: list[str], **more: Any) -> AsyncIterator[str]:
    """A batch that is at its provider, and a worker."""
    desk.simulator.arm(Fault.NEVER_ENDS)
    batch_id = await desk.transcribe(inputs, **more)
    async with desk.working():
        await desk.until(batch_id, "IN_PROGRESS", "FAILED")
        yield batch_id


async def work(desk: SpeechDesk) -> list[str]:
    return [key for key in await desk.blobs() if "/work/" in key]


async def nothing_left(desk: SpeechDesk) -> None:
    async def gone() -> bool:
        return await work(desk) == []

    await eventually(gone)


async def test_who_fetches_by_https_gets_links_that_open_one_file_as_long_as_the_batch_is_under_way(opening: Opening):
    async with opening(AZURE, base_url="https://towpath.example/sub") as desk:
        asset = await desk.upload("talk.wav", WAVE)
        async with never_ending(desk, [asset]) as batch_id:
            await eventually(lambda: _asked(desk))
            [url] = next(iter(desk.simulator.jobs.values())).request.content_urls
            parts = urlsplit(str(url))
            assert (parts.scheme, parts.netloc) == ("https", "towpath.example")
            path, [token] = parts.path.removeprefix("/sub"), parse_qs(parts.query)["token"]
            assert (await desk.nobody.get(path, params={"token": token})).content == WAVE
            for wrong in (token[:-2], token + "x", "", "e30.e30", f"{token.partition('.')[0]}."):
                problem(await desk.nobody.get(path, params={"token": wrong}), 404, "not_found")
            problem(await desk.nobody.get(path.rpartition("/")[0] + "/1", params={"token": token}), 404, "not_found")
            assert (await desk.nobody.post(path, params={"token": token})).status_code == 405
            told, secret = links.Opened(f"assets/{asset}/x", "talk.wav"), await links.draw(desk.app.blobs, batch_id)
            late = links.link("https://x", secret, batch_id, 0, told, time.time() - 1).rpartition("token=")[2]
            problem(await desk.nobody.get(path, params={"token": late}), 404, "not_found")
            assert token.encode() not in await asyncio.to_thread(_database, desk)
            ok(await desk.ann.post(f"/api/batches/{batch_id}/cancel"))
            await nothing_left(desk)
            problem(await desk.nobody.get(path, params={"token": token}), 404, "not_found")


async def _asked(desk: SpeechDesk) -> bool:
    return bool(desk.simulator.jobs)


def _database(desk: SpeechDesk) -> bytes:
    from pathlib import Path

    path = Path(desk.app.url.removeprefix("sqlite:///"))
    return b"".join(one.read_bytes() for one in path.parent.glob(f"{path.name}*"))


@pytest.mark.parametrize(
    ("asked", "remedy"), [(AZURE, "TOWPATH_BASE_URL"), (AWS, "TOWPATH_STAGING_URL"), (GOOGLE, "TOWPATH_STAGING_URL")]
)
async def test_without_a_place_nothing_is_sent_and_the_error_says_what_to_set(
    opening: Opening, asked: speech.Speech, remedy: str
):
    async with opening(asked) as desk:
        found = await desk.transcribed([await desk.upload()])
        assert found["status"] == "FAILED"
        assert remedy in (await desk.app.get(found["job_id"])).error["remedy"]
        assert desk.simulator.ledger.paid == []


async def test_a_copy_in_a_bucket_is_what_who_reads_buckets_gets_and_it_goes_with_the_batch(
    opening: Opening, monkeypatch: pytest.MonkeyPatch
):
    simulator = google.simulator()
    with speech.bucket_of(simulator) as environ:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        async with opening(GOOGLE, simulator, staging_url="gs://ours/towpath") as desk:
            asset = await desk.upload()
            async with never_ending(desk, [asset]) as batch_id:
                await eventually(lambda: _asked(desk))
                copy = f"gs://ours/towpath/batches/{batch_id}/work/staged/0.wav"
                assert simulator.files[copy] == WAVE
                ok(await desk.ann.delete(f"/api/batches/{batch_id}"))

                async def gone() -> bool:
                    return copy not in simulator.files

                await eventually(gone)


async def test_who_is_sent_files_is_sent_what_is_at_an_address_and_what_is_no_audio_is_told(opening: Opening):
    served = {b"/talk.wav": WAVE, b"/talk2.wav": b"%PDF-1.7 no talk at all"}

    def answer(head: bytes) -> bytes:
        asked = head.split()[1].partition(b"?")[0]
        return page(served[asked]) if asked in served else page(b"", "404 Not Found")

    async with opening(SARVAM, allow_private_urls=True) as desk, answering(answer) as port:
        places = [f"http://127.0.0.1:{port}/{name}?sig={SECRET}" for name in ("talk.wav", "talk2.wav", "talk3.wav")]
        found = await desk.transcribed([*places, await desk.upload("x.txt", b"hello")])
        assert (found["status"], found["ok"], found["invalid"]) == ("COMPLETED", 1, 3)
        assert [wrong["input"].rpartition("/")[2] for wrong in found["invalid_inputs"][:2]] == ["talk2.wav", "talk3.wav"]
        reasons = [wrong["reason"] for wrong in found["invalid_inputs"]]
        assert ["PDF" in reasons[0], "404" in reasons[1] or "nothing" in reasons[1], "neither" in reasons[2]] == [True] * 3
        kept = await everything_stored(desk)
        assert b"talk2.wav" in kept
        assert SECRET.encode() not in kept
        again = await desk.transcribed(None, dataset_ids=found["dataset_ids"])
        assert (again["status"], again["invalid"]) == ("FAILED", 4)
        assert "send the link again" in again["error"]


async def test_a_link_that_is_read_as_it_is_stands_in_no_row_and_is_kept_for_a_retry_only_if_it_failed(opening: Opening):
    inputs = [f"https://93.184.216.34/talk{number}.wav?sig={SECRET}{number}" for number in range(2)]
    async with opening(AZURE) as desk:
        desk.simulator.arm(Fault.PARTIAL)
        found = await desk.transcribed(inputs)
        assert found["status"] == "PARTIAL_COMPLETE"
        assert SECRET.encode() not in await asyncio.to_thread(_database, desk)
        kept = await everything_stored(desk)
        assert (f"{SECRET}0".encode() in kept, f"{SECRET}1".encode() in kept) == (False, True)
        again = ok(await desk.ann.post(f"/api/batches/{found['id']}/retry"), 202)
        async with desk.working():
            assert (await desk.done(again["id"]))["status"] == "COMPLETED"
        urls = [str(url) for job in desk.simulator.jobs.values() for url in job.request.content_urls]
        assert urls == [*inputs, inputs[1]]


async def test_what_never_ends_fails_in_time(opening: Opening):
    async with opening(AZURE, task_timeout_hours=0.2 / 3600) as desk:
        async with never_ending(desk, await desk.inputs(1)) as batch_id:
            found = await desk.done(batch_id)
        assert found["status"] == "FAILED"
        assert await work(desk) == []


async def test_only_what_can_be_asked_is_taken(opening: Opening):
    async with opening(AZURE) as desk:
        for wrong in (
            {}, {"inputs": []}, {"inputs": ["x"], "dataset_ids": ["0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60"]},
            {"inputs": ["x"] * 10_001}, {"inputs": ["x"], "locale": "no locale"}, {"inputs": ["x"], "diarization": 1},
            {"inputs": ["x"], "provider": "OPENAI"}, {"inputs": ["x"], "provider": "NOBODY"},
            {"inputs": ["x"], "provider": "LOCAL", "models": ["m"]},
            {"inputs": ["x"], "provider": "LOCAL", "word_timestamps": True},
            {"inputs": ["x"], "provider": "LOCAL", "diarization": 4},
        ):  # fmt: skip
            asked = {"provider": "AZURE"} | wrong
            problem(await desk.ann.post("/api/batches/transcription", json=asked), 422, "invalid")
        found = await desk.transcribed(["nothing-like-it"])
        assert (found["status"], found["invalid"]) == ("FAILED", 1)
        assert "no uploaded file has this id" in found["error"]
        strict = await desk.transcribed([*await desk.inputs(1), "nope"], strict_inputs=True)
        assert strict["status"] == "PARTIAL_COMPLETE"
        missing = await desk.transcribed(await desk.inputs(1), locale=None)
        assert (missing["status"], "needs to know the language" in missing["error"]) == ("FAILED", True)
        assert len(desk.simulator.ledger.paid) == 1


async def test_an_address_that_is_none_is_told_and_takes_nobody_with_it(opening: Opening):
    """A provider refuses the whole order for the sake of one of them."""
    wrong = [
        "https://[::1", "https://", "https://xn--/a.wav", "https://a..b/c.wav", "https://" + "a" * 300 + ".com/", "s3://", "s3://inputs/",
        "s3://inputs/../x", "https://93.184.216.34:99999/a.wav", "https://me:secret@93.184.216.34/", "file:///etc/passwd",
        "https://169.254.169.254/latest", "https://2130706433/a", "../../etc/passwd",
    ]  # fmt: skip
    async with opening(AZURE) as desk:
        found = await desk.transcribed([*wrong, *await desk.inputs(2)])
        assert (found["status"], found["ok"], found["invalid"], found["failed"]) == ("COMPLETED", 2, len(wrong), 0)
        assert [one["line"] for one in found["invalid_inputs"]] == list(range(1, len(wrong) + 1))
        assert all(one["reason"] and "secret" not in one["reason"] for one in found["invalid_inputs"])


async def test_what_is_enqueued_or_worked_on_twice_is_ordered_once(opening: Opening):
    async with opening(AZURE) as desk:
        batch_id = await desk.transcribe(await desk.inputs(3))
        again = await desk.app.enqueue(
            "batches.transcribe", {"batch_id": batch_id}, tenant="north", queue="batches", subject=("batch", batch_id)
        )
        async with desk.working(), desk.working():
            found = await desk.done(batch_id)
            assert found["status"] == "COMPLETED"

            async def refused() -> bool:
                return (await desk.app.get(again.id)).state.value == "failed"

            await eventually(refused)
        assert (await desk.get(batch_id))["status"] == "COMPLETED"
        assert len(desk.simulator.ledger.paid) == 1

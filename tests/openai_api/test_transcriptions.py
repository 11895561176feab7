"""/v1/audio/transcriptions: the official library sends a file and waits for its text."""

import asyncio
import io

import openai
import pytest
from openai.types.audio import TranscriptionVerbose

from tests.openai_api.front import Front
from tests.products.recordings.ear import Ear
from tests.products.recordings.media import encoded, silence
from towpath import Fatal
from towpath.recordings import windows

WAVE = encoded(silence(2.0), "wav")


@pytest.fixture
def ear(monkeypatch: pytest.MonkeyPatch) -> Ear:
    ear = Ear()
    ear.hears = [(0.0, 0.8, "Down by"), (0.8, 1.9, "the <mill>")]
    monkeypatch.setattr(windows, "_hear_window", ear.hear)
    return ear


def sound(data: bytes = WAVE) -> tuple[str, io.BytesIO]:
    return "mill.wav", io.BytesIO(data)


async def left(front: Front) -> tuple[list[str], list[str]]:
    """Recordings and files that are there."""
    titles = [one["title"] for one in (await front.site.ann.get("/api/recordings")).json()["items"]]
    return titles, [info.key async for info in front.app.blobs.list() if info.key.startswith("assets/")]


async def nothing_left(front: Front) -> None:
    """It is removed behind the answer."""
    async with asyncio.timeout(60):
        while await left(front) != ([], []):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_every_format_is_answered_and_nothing_is_left_behind(front: Front, ear: Ear):
    ask = front.ann.audio.transcriptions.create
    async with front.working():
        assert (await ask(file=sound(), model="whisper-1")).text == "Down by the <mill>"
        assert (await ask(file=sound(), model="m", response_format="text")) == "Down by the <mill>\n"
        srt = await ask(file=sound(), model="m", response_format="srt")
        vtt = await ask(file=sound(), model="m", response_format="vtt", language="en")
        told = await ask(
            file=sound(), model="m", response_format="verbose_json", language="en", timestamp_granularities=["segment"]
        )
    assert "1\n00:00:00,000 --> 00:00:00,800\nDown by\n" in str(srt)
    assert str(vtt).startswith("WEBVTT")
    assert "&lt;mill&gt;" in str(vtt)
    assert isinstance(told, TranscriptionVerbose)
    assert (told.language, round(told.duration), told.text) == ("en", 2, "Down by the <mill>")
    assert [(one.start, one.end, one.text) for one in told.segments or []] == [
        (0.0, 0.8, "Down by"), (0.8, 1.9, "the <mill>"),
    ]  # fmt: skip
    await nothing_left(front)


async def test_what_does_not_fit_is_refused_before_anything_is_queued(front: Front):
    ask = front.ann.audio.transcriptions.create
    for param, given in (
        ("response_format", {"response_format": "diarized_json"}), ("stream", {"stream": True}),
        ("timestamp_granularities", {"timestamp_granularities": ["word"]}), ("language", {"language": "!!"}),
        ("include", {"include": ["logprobs"]}),
    ):  # fmt: skip
        with pytest.raises(openai.BadRequestError) as refused:
            await ask(file=sound(), model="m", **given)
        assert refused.value.param == param
    with pytest.raises(openai.BadRequestError, match="text"):
        await ask(file=sound(b"this is no audio"), model="m")
    assert await left(front) == ([], [])


async def test_a_file_that_cannot_be_decoded_is_the_senders_and_a_broken_engine_is_ours(front: Front, ear: Ear):
    async with front.working():
        with pytest.raises(openai.BadRequestError) as refused:
            await front.ann.audio.transcriptions.create(file=sound(WAVE[:60]), model="m")
        assert refused.value.code == "invalid_file"
        ear.failing = Fatal("the model is broken")
        with pytest.raises(openai.InternalServerError, match="the model is broken"):
            await front.ann.audio.transcriptions.create(file=sound(), model="m")
    await nothing_left(front)


async def test_whoever_hangs_up_finds_the_text_among_the_recordings(front: Front, ear: Ear):
    ear.held.clear()
    async with front.working():
        asking = asyncio.create_task(front.ann.audio.transcriptions.create(file=sound(), model="m"))
        async with asyncio.timeout(60):
            await ear.reached.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.sleep(0.3)  # for the server to notice
        ear.go_on()
        async with asyncio.timeout(60):
            while True:
                [one] = (await front.site.ann.get("/api/recordings")).json()["items"]
                if one["status"] == "COMPLETED":
                    break
                await asyncio.sleep(0.05)
    titles, files = await left(front)
    assert (titles, len(files)) == (["mill"], 1)

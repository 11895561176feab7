"""towpath batch transcribe: files from here are uploaded, addresses are told as they are."""

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.commands import Commands
from tests.models.sounds import write_wav
from tests.products.batches.test_commands import towpath  # noqa: F401  (a fixture)
from towpath import App, assets
from towpath.server import attach
from towpath.testing import drain


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    return write_wav(tmp_path / "talk.wav", np.zeros(16_000, dtype=np.float32))


def work(url: str) -> None:
    async def run() -> None:
        async with attach(App(url)) as app:
            await drain(app)

    asyncio.run(run())


def kept(url: str) -> int:
    async def run() -> int:
        async with attach(App(url)) as app:
            return (await assets.usage(app, "default")).assets

    return asyncio.run(run())


def test_files_are_uploaded_heard_and_their_transcripts_fetched(towpath: Commands, talk: Path):  # noqa: F811
    batch_id = towpath("batch", "transcribe", talk, "https://127.0.0.1/private.wav", "--locale", "en").stdout.strip()
    shown = towpath.json("batch", "status", batch_id)
    assert (shown["status"], shown["task_type"], shown["title"]) == ("PENDING", "transcription", "talk.wav and 1 more")
    work(towpath.url)
    assert "COMPLETED: 1 transcribed, 0 failed" in towpath("batch", "watch", batch_id).stdout
    heard, refused = json.loads(towpath("batch", "results", batch_id).stdout)["transcriptions"]
    assert heard["error"] is None
    assert refused["input"] == "https://127.0.0.1/private.wav"
    assert refused["error"]["code"] == "invalid_input"
    assert "line 2, https://127.0.0.1/private.wav: " in towpath("batch", "status", batch_id).stdout
    assert "transcription" in towpath("batch", "list").stdout


def test_nothing_is_sent_if_one_of_the_files_cannot_be_taken(towpath: Commands, talk: Path, tmp_path: Path):  # noqa: F811
    text = tmp_path / "notes.wav"
    text.write_text("no sound at all", "utf-8")
    told = towpath("batch", "transcribe", talk, text, code=2).stderr
    assert "notes.wav" in told
    assert "nothing was sent" in told
    assert towpath.json("batch", "list") == []
    assert kept(towpath.url) == 0


def test_what_is_wrong_is_said_before_anything_is_uploaded(towpath: Commands, talk: Path):  # noqa: F811
    assert "there is no file nowhere.wav" in towpath("batch", "transcribe", talk, "nowhere.wav", code=2).stderr
    assert "does completion" in towpath("batch", "transcribe", talk, "--provider", "OPENAI", code=2).stderr
    assert "LOCAL hears by the speech model" in towpath("batch", "transcribe", talk, "--model", "m", code=2).stderr
    assert kept(towpath.url) == 0

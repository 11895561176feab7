"""Workers are killed in the middle of a transcription; others finish it, nothing is paid for or heard twice."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.working import history
from tests.models.sounds import BUNDLED, TWO_CITIES, speak
from tests.products.batches.speech import AZURE, SpeechDesk, opened_speech
from towpath import Settings


@pytest.fixture
async def desk(database_url: str, settings: Settings) -> AsyncIterator[SpeechDesk]:
    ready = replace(settings, models_dir=BUNDLED.models_dir, lease_seconds=1.0)
    async with opened_speech(database_url, ready, AZURE) as desk:
        yield desk


async def killed_at(desk: SpeechDesk, point: str) -> None:
    where = [desk.app.url, desk.app.settings.blobs_url, desk.simulator.url, point]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.products.batches.crashing_speech", *where, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(120):
            _, said = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == -signal.SIGKILL, said.decode()[-3000:]


@pytest.mark.parametrize("point", ["submit.prepared", "submit.recorded"])
async def test_an_order_whose_worker_was_killed_is_finished_by_others_and_paid_for_once(desk: SpeechDesk, point: str):
    batch_id = await desk.transcribe(await desk.inputs(3))
    await killed_at(desk, point)
    async with desk.working():
        found = await desk.done(batch_id)
    assert (found["status"], found["ok"]) == ("COMPLETED", 3)
    assert len(desk.simulator.ledger.paid) == 1


async def test_windows_that_were_heard_are_not_heard_again(desk: SpeechDesk, tmp_path: Path):
    spoken = speak(TWO_CITIES, tmp_path / "spoken.wav").read_bytes()
    batch_id = await desk.transcribe([await desk.upload("talk.wav", spoken)], provider="LOCAL", locale=None)
    await killed_at(desk, "window 2")
    async with desk.working():
        found = await desk.done(batch_id)
    assert (found["status"], found["ok"]) == ("COMPLETED", 1)
    [heard] = (await desk.document(batch_id))["transcriptions"]
    assert "foolishness" in heard["text"].lower()
    [child] = await desk.app.list(parent=found["job_id"])
    steps = [event for event in await history(desk.app, child.id) if event.name == "step.completed"]
    names = [event.fields["step"] for event in steps]
    assert len(names) == len(set(names))

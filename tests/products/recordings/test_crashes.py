"""A worker is killed in the middle: what was heard is not heard again, and the result is the same."""

import asyncio
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.engine.working import history
from tests.products.recordings.media import encoded, silence, speech
from tests.products.recordings.studio import Studio
from tests.server.api.site import ok
from towpath import App, Event, Settings

LEASE = 1.5


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    blobs = (tmp_path / "blobs").as_uri()
    return Settings(blobs_url=blobs, poll_seconds=0.1, drain_seconds=0.2, pool_size=4, lease_seconds=LEASE)


async def test_windows_that_were_heard_are_not_heard_again(studio: Studio, database_url: str):
    talk = np.concatenate([speech("clone-test"), silence(24)] * 3)
    sent = await studio.upload(encoded(talk, "flac"), "talk.flac", auto_summary="false")
    await _killed(studio.app, database_url, at_window=3)
    before = await _windows(studio.app, sent["job_id"])
    heard = {name for name, count in before["step.completed"].items() if count}
    assert len(heard) == 2
    async with studio.working(1):
        found = await studio.done(sent["id"])
    assert found["status"] == "COMPLETED"

    after = await _windows(studio.app, sent["job_id"])
    assert after["step.completed"].keys() > heard
    assert set(after["step.completed"].values()) == {1}
    assert {name: after["step.started"][name] for name in heard} == dict.fromkeys(heard, 1)
    events = await history(studio.app, sent["job_id"])
    names = Counter(event.fields["step"] for event in events if event.name == "step.completed")
    assert {names[step] for step in ("probe", "decode", "split", "save")} == {1}
    text = ok(await studio.ann.get(f"/api/recordings/{sent['id']}/transcript"))
    assert len(text["segments"]) >= 3


async def _killed(app: App, url: str, *, at_window: int) -> None:
    command = ["-m", "tests.products.recordings.crashing", url, app.settings.blobs_url, str(LEASE), str(at_window)]
    process = await asyncio.create_subprocess_exec(sys.executable, *command, cwd=Path(__file__).parents[3])
    try:
        assert await asyncio.wait_for(process.wait(), 60) == -9
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _windows(app: App, job_id: str) -> dict[str, Counter[str]]:
    """How often each window was begun and completed, over all child jobs."""
    events: list[Event] = []
    for child in await app.list(parent=job_id):
        events += await history(app, child)
    steps = [event for event in events if (event.fields or {}).get("step", "").startswith("window")]
    return {
        name: Counter(event.fields["step"] for event in steps if event.name == name)
        for name in ("step.started", "step.completed")
    }

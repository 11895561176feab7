"""Long recordings in bounded memory, measured in a worker process of its own.

What decodes and what splits have quick tests of the same in tests/assets and tests/models.
"""

import asyncio
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.engine.working import on_sqlite
from tests.products.recordings.media import encoded, silence, speech
from tests.products.recordings.studio import Studio
from tests.server.api.site import ok

pytestmark = on_sqlite

_WORKER = "tests.products.recordings.measured"


async def _peak_megabytes(studio: Studio, minutes: float) -> float:
    """The most memory that a worker had while it transcribed so many minutes, with words at both ends."""
    talk, pause = speech("clone-test"), silence(minutes * 60)
    samples = np.concatenate([talk, pause[2 * len(talk) :], talk])
    sent = await studio.upload(encoded(samples, "flac"), "long.flac", auto_summary="false")
    command = ["-m", _WORKER, studio.app.url, studio.app.settings.blobs_url, sent["job_id"]]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *command, cwd=Path(__file__).parents[3], stdout=asyncio.subprocess.PIPE
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), 900)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    found = await studio.get(sent["id"])
    assert (found["status"], found["duration"]) == ("COMPLETED", pytest.approx(minutes * 60, abs=0.1))
    lines = ok(await studio.ann.get(f"/api/recordings/{sent['id']}/transcript"))["segments"]
    assert lines[0]["start"] < 5
    assert lines[-1]["start"] > minutes * 60 - 10
    return float(output)


@pytest.mark.slow
async def test_an_hour_takes_hardly_more_memory_than_a_minute(studio: Studio):
    assert await _peak_megabytes(studio, 60) < await _peak_megabytes(studio, 1) + 100

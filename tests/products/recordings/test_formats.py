"""Every format that people record in, from the upload to the transcript."""

import pytest

from tests.engine.working import on_sqlite
from tests.models.words import word_error_rate
from tests.products.recordings.media import FORMATS, encoded, speech
from tests.products.recordings.studio import Studio
from tests.server.api.site import ok
from towpath.models.speech import engine_for

TALK = speech("clone-test")


@pytest.fixture(scope="module")
def said() -> str:
    """What the engine hears in the samples themselves: formats are compared with that, not engines with people."""
    import numpy as np

    from towpath import Settings

    return " ".join(segment.text for segment in engine_for(Settings()).transcribe(TALK.astype(np.float32) / 32768))


@on_sqlite
async def test_all_formats_become_the_same_transcript(studio: Studio, said: str):
    sent = {ending: await studio.upload(encoded(TALK, ending), f"talk.{ending}", auto_summary="false") for ending in FORMATS}
    async with studio.working():
        found = {ending: await studio.done(one["id"], within=120) for ending, one in sent.items()}
    assert {ending: one["status"] for ending, one in found.items()} == dict.fromkeys(FORMATS, "COMPLETED")
    for ending, one in found.items():
        heard = ok(await studio.ann.get(f"/api/recordings/{one['id']}/transcript"))["text"]
        assert word_error_rate(said, heard) <= (0.5 if ending == "amr" else 0.25), f"{ending}: {heard}"
        assert one["duration"] == pytest.approx(len(TALK) / 16_000, abs=0.1)

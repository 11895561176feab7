"""The place in line counts recordings that wait, and nothing else: 1 is next."""

import threading
from collections.abc import Iterator

import pytest

from tests.engine.working import eventually
from tests.products.recordings.media import encoded, silence
from tests.products.recordings.studio import Studio
from towpath.assets import hearing

LONG = encoded(silence(200), "flac")


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """No engine is loaded until the test lets it."""
    let_go, really = threading.Event(), hearing.engine_for

    def waiting(*asked):
        let_go.wait(60)
        return really(*asked)

    monkeypatch.setattr(hearing, "engine_for", waiting)
    yield let_go
    let_go.set()


async def _places(studio: Studio) -> dict[str, tuple[str, int | None]]:
    return {job["recording_id"]: (job["job_status"], job["position"]) for job in await studio.jobs()}


async def test_parts_of_a_recording_that_is_being_heard_do_not_count_as_places_in_line(
    studio: Studio, held: threading.Event
):
    heard = await studio.upload(LONG, "long.flac")
    async with studio.working(1):
        await _parts_run(studio, heard["job_id"])
        waiting = [await studio.upload(name=f"{number}.wav") for number in range(3)]
        places = await _places(studio)
        assert places[heard["id"]] == ("processing", None)
        assert [places[one["id"]] for one in waiting] == [("queued", 1), ("queued", 2), ("queued", 3)]
        held.set()


async def _parts_run(studio: Studio, job_id: str) -> None:
    """The only slot is taken by a part that waits for its engine, and others wait behind it."""
    await eventually(lambda: studio.app.list(parent=job_id, state="running"))

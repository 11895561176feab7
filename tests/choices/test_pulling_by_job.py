"""Models are pulled by a job that anybody can follow, and removed again."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.engine.working import ended, in_state
from tests.models.test_pulling import mirror
from tests.models.wire_server import Answer, Asked, WireServer
from tests.products.recordings.studio import Studio
from tests.server.api.site import ok, problem
from towpath.testing import drain

ADDRESS = "/api/models"
NAME = "moonshine/tiny-en"


async def pull(studio: Studio, model: str = NAME) -> str:
    return str(ok(await studio.root.post(f"{ADDRESS}/pull", json={"model": model}), 202)["job_id"])


async def shown(studio: Studio, name: str = NAME) -> dict[str, Any]:
    listed = ok(await studio.root.get(ADDRESS))["models"]
    return next(one for one in listed if one["name"] == name)


def from_mirror(studio: Studio, wire: WireServer) -> Path:
    studio.app.settings = replace(studio.app.settings, models_url=wire.root)
    return Path(studio.app.settings.models_dir) / "moonshine" / "tiny-en"


async def test_a_pull_is_a_job_with_progress_and_the_model_can_be_removed(studio: Studio, wire: WireServer):
    folder = from_mirror(studio, wire)
    wire.always = mirror
    job_id = await pull(studio)
    assert await pull(studio) == job_id  # while it waits or runs it is that one
    assert (await shown(studio))["pull"]["state"] == "queued"
    await drain(studio.app)
    job = await studio.app.get(job_id)
    assert (job.state, job.progress_current, job.progress_total) == ("succeeded", 43_943_830, 43_943_830)
    assert job.subject == ("model", NAME)
    assert (folder / "tokenizer.bin").is_file()
    told = await shown(studio)
    assert (told["pulled"], told["bytes"], told["pull"]["state"]) == (True, 43_943_830, "succeeded")

    ok(await studio.root.put(f"{ADDRESS}/defaults/speech", json={"model": NAME}))
    problem(await studio.root.delete(f"{ADDRESS}/pulled/{NAME}"), 409, "conflict")
    ok(await studio.root.put(f"{ADDRESS}/defaults/speech", json={"model": None}))
    assert (await studio.root.delete(f"{ADDRESS}/pulled/{NAME}")).status_code == 204
    assert not folder.exists()
    problem(await studio.root.delete(f"{ADDRESS}/pulled/{NAME}"), 404, "not_found")
    assert not (await shown(studio))["pulled"]  # the one that came along is still there
    assert (await shown(studio))["state"] == "ready"


async def test_a_pull_that_fails_says_what_to_do_and_keeps_what_is_whole(studio: Studio, wire: WireServer):
    folder = from_mirror(studio, wire)
    wire.always = lambda asked: Answer(b"", 404) if "tokenizer" in asked.path else mirror(asked)
    job = await studio.app.get(await pull(studio))
    await drain(studio.app)
    told = (await shown(studio))["pull"]
    assert (told["job_id"], told["state"]) == (job.id, "failed")
    assert "answered 404" in told["error"]
    assert "TOWPATH_MODELS_URL" in told["remedy"]
    assert (folder / "encoder_model.ort").is_file()
    asked = len(wire.asked)
    wire.always = mirror
    await pull(studio)
    await drain(studio.app)
    assert (await shown(studio))["pull"]["state"] == "succeeded"
    assert len(wire.asked) == asked + 1  # what was whole was not fetched again


async def test_a_pull_that_is_cancelled_stops_and_leaves_nothing_behind(studio: Studio, wire: WireServer):
    folder = from_mirror(studio, wire)
    go_on = threading.Event()

    def slowly(asked: Asked) -> Answer:
        return replace(mirror(asked), wait_for=go_on)

    wire.always = slowly
    job = await studio.app.get(await pull(studio))
    async with studio.working_on("models"):
        await in_state(studio.app, job, "running")
        await studio.app.cancel(job.id, "not now")
        go_on.set()
        assert (await ended(studio.app, job)).state == "cancelled"
    assert not (folder / "tokenizer.bin").exists()
    assert not list(folder.glob(".*")) if folder.exists() else True


async def test_there_is_no_job_for_a_model_that_there_is_not(studio: Studio):
    told = problem(await studio.root.post(f"{ADDRESS}/pull", json={"model": "../etc"}), 422, "invalid")
    assert "there are moonshine/" in told["detail"]
    problem(await studio.root.delete(f"{ADDRESS}/pulled/../../etc"), 404, "not_found")
    assert await studio.app.list(operation="models.pull") == []

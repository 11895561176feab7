"""The push stream carries recordings as lists show them, so that nobody has to conclude a status from jobs."""

import json

import pytest

from tests.products.recordings.studio import Studio
from tests.server.api.site import ok
from tests.server.push.listening import Listener
from tests.server.push.serving import serving
from towpath.identity import accounts, tokens


@pytest.fixture
async def ear(studio: Studio):
    """Somebody of ann's tenant who listens to recordings only."""
    store = studio.app.services.store
    account = await accounts.create(store, "listener", tenants=["north"])
    secret, _ = await tokens.create(store, account, name="a stream", tenant="north")
    async with serving(studio.site.api, lifespan="off") as address:
        ear = Listener(address, secret, {"types": ["recording"]})
        async with ear.connected():
            yield ear


def statuses(ear: Listener) -> list[str]:
    return list(dict.fromkeys(data["status"] for data in ear.of("recording")))


async def test_what_is_pushed_is_what_lists_show(studio: Studio, ear: Listener):
    done = await studio.finished()
    await ear.until(lambda heard: "COMPLETED" in statuses(heard))
    [listed] = ok(await studio.ann.get("/api/recordings"))["items"]
    assert ear.of("recording")[-1] == json.loads(json.dumps(listed))
    assert listed["id"] == done["id"]


async def test_a_deleted_recording_is_told_of(studio: Studio, ear: Listener):
    sent = await studio.upload()
    await ear.until(lambda heard: heard.of("recording"))
    ok(await studio.ann.delete(f"/api/recordings/{sent['id']}"))
    await ear.until(lambda heard: heard.of("recording.deleted"))
    assert ear.of("recording.deleted")[0] == {"id": sent["id"]}


async def test_a_deleted_recording_that_has_no_jobs_any_more_is_told_of(studio: Studio, ear: Listener):
    sent = await studio.upload()
    await studio.app.remove([sent["job_id"]])
    await ear.until(lambda heard: heard.of("recording"))
    ok(await studio.ann.delete(f"/api/recordings/{sent['id']}"))
    await ear.until(lambda heard: heard.of("recording.deleted"))
    assert ear.of("recording.deleted")[0] == {"id": sent["id"]}


async def test_a_new_title_is_told_of_although_no_job_gives_it(studio: Studio, ear: Listener):
    sent = await studio.upload()
    ok(await studio.ann.patch(f"/api/recordings/{sent['id']}", json={"title": "Tuesday"}))
    await ear.until(lambda heard: "Tuesday" in [data["title"] for data in heard.of("recording")])

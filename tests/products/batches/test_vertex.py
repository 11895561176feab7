"""VERTEX works in a bucket: the staging place of the settings, from which everything is removed again."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

import pytest

from tests.engine.working import eventually
from tests.products.batches.desk import Desk, opened_desk
from tests.products.batches.speech import bucket_of
from tests.providers import vertex
from towpath import App, Settings
from towpath.providers.simulator import Fault, Simulator, served
from towpath.providers.simulator.vertex import TOKEN
from towpath.providers.vertex import Vertex

ASKED = [{"custom_id": f"q{n}", "body": {"messages": [{"role": "user", "content": f"question {n}"}]}} for n in range(4)]
WANTED = {"provider": "VERTEX", "models": ["gemini-3.8-pro"]}
Opening = Callable[[str], AbstractAsyncContextManager[Desk]]


@pytest.fixture
def simulator() -> Simulator:
    return vertex.simulator()


@pytest.fixture
def opening(database_url: str, settings: Settings, simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> Opening:
    """A desk with a staging place. The adapter finds the bucket as everybody does, by the variables of the environment."""

    @asynccontextmanager
    async def opened(staging_url: str) -> AsyncIterator[Desk]:
        with bucket_of(simulator) as environ, served(simulator):
            for name, value in environ.items():
                monkeypatch.setenv(name, value)
            app = App(database_url, settings=replace(settings, staging_url=staging_url, provider_call_seconds=30.0))
            app.provider("VERTEX", lambda: adapter(simulator))
            async with opened_desk(app) as desk:
                yield desk

    return opened


def adapter(simulator: Simulator) -> Vertex:
    credentials = vertex.Credentials(token=TOKEN)
    return Vertex(project="our-project", location="europe-west4", credentials=credentials, base_url=simulator.url)


async def test_requests_and_results_go_by_the_staging_place_and_nothing_stays_there(opening: Opening, simulator: Simulator):
    async with opening("gs://ours/towpath") as desk:
        simulator.arm(Fault.PARTIAL)
        batch_id = await desk.make(ASKED, **WANTED)
        async with desk.working():
            found = await desk.done(batch_id)
        assert (found["status"], found["ok"], found["failed"]) == ("PARTIAL_COMPLETE", 2, 2)
        lines = await desk.results(batch_id)
        assert [line["error"] is None for line in lines] == [True, False, True, False]
        assert lines[0]["text"] == lines[0]["response"]["candidates"][0]["content"]["parts"][0]["text"]
        [job] = simulator.jobs.values()
        folder = f"gs://ours/towpath/batches/{batch_id}/work/returned/"
        assert job.request["asked"]["outputConfig"]["gcsDestination"]["outputUriPrefix"].startswith(folder)
        assert simulator.files == {}


async def test_what_is_there_goes_with_a_batch_that_is_deleted(opening: Opening, simulator: Simulator):
    async with opening("gs://ours/towpath") as desk:
        simulator.arm(Fault.NEVER_ENDS)
        batch_id = await desk.make(ASKED, **WANTED)
        async with desk.working():
            await desk.until(batch_id, "IN_PROGRESS")
            assert [uri.rpartition("/")[2] for uri in simulator.files] == ["requests.jsonl"]
            assert (await desk.ann.delete(f"/api/batches/{batch_id}")).status_code in (200, 204)

            async def gone() -> bool:
                return simulator.files == {}

            await eventually(gone)


@pytest.mark.parametrize("elsewhere", ["", "s3://ours/towpath"])
async def test_without_such_a_place_nothing_is_sent_and_the_error_says_what_to_set(
    opening: Opening, simulator: Simulator, elsewhere: str
):
    async with opening(elsewhere) as desk:
        found = await desk.finished(ASKED, **WANTED)
        assert found["status"] == "FAILED"
        assert "VERTEX works on gs://" in found["error"]
        assert "TOWPATH_STAGING_URL" in (await desk.app.get(found["job_id"])).error["remedy"]
        assert simulator.ledger.paid == []

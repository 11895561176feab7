"""Whoever wants to know that a batch has ended is told: webhooks hear of jobs, and a batch ends with its job."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.working import eventually, on_sqlite
from tests.products.batches.desk import Desk, request
from tests.server.api.receiving import receiving
from tests.server.api.site import ok
from towpath import Settings
from towpath.batches.names import COMPLETE
from towpath.outbound.signatures import verify_signature
from towpath.server.webhooks import dispatching

pytestmark = on_sqlite


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Settings:
    monkeypatch.setattr(dispatching, "_EVERY", 0.02)
    monkeypatch.setattr(dispatching, "_IDLE", 0.02)
    return replace(settings, allow_private_urls=True)


@pytest.mark.parametrize(
    ("requests", "told"),
    [
        ([request("a")], "job.succeeded"),
        ([request("a"), request("b", fail=True)], "job.partial"),
        ([request("a", fail=True)], "job.failed"),
    ],
)
async def test_a_webhook_hears_how_a_batch_has_ended_and_which_it_was(desk: Desk, requests: list, told: str):
    with receiving() as receiver:
        asked = {"url": receiver.url, "operations": [COMPLETE]}
        hook = ok(await desk.ann.post("/api/webhooks", json=asked), 201)
        batch_id = await desk.make(requests)
        async with desk.working(), desk.working_on("webhooks"):
            found = await desk.done(batch_id)
            await eventually(lambda: receiver.messages)
    [message] = receiver.messages
    verify_signature(hook["secret"], message.headers, message.body)
    assert (message.content["type"], message.content["job"]["id"]) == (told, found["job_id"])
    assert message.content["job"]["subject"] == {"kind": "batch", "id": batch_id}

"""Credentials that are no longer good in the middle of a batch: whoever is struck says so, the others end as they would
have, and nothing that was paid for is ordered again."""

import pytest

from tests.engine.working import on_sqlite
from tests.products.batches.desk import Desk, EchoProvider, request
from tests.server.api.site import ok
from towpath import Fatal
from towpath.providers.simulator import Fault

pytestmark = on_sqlite
DENIED = "the credentials are no longer good"


async def test_an_order_that_they_strike_fails_in_words_and_the_others_are_answered(desk: Desk, provider: EchoProvider):
    whole = provider.submit

    async def expiring(order, prepared):
        if provider.ledger.paid:
            provider.simulator.arm(Fault.DENIED)
        return await whole(order, prepared)

    provider.submit = expiring
    found = await desk.finished([request(f"n{number}") for number in range(250)])
    assert (found["status"], found["ok"], found["failed"]) == ("PARTIAL_COMPLETE", 100, 150)
    states = [row["state"] for row in found["provider_jobs"]]
    assert sorted(states) == ["completed", "failed", "failed"]
    assert all(DENIED in row["error"] for row in found["provider_jobs"] if row["state"] == "failed")
    lines = await desk.results(found["id"])
    assert [line["custom_id"] for line in lines] == [f"n{number}" for number in range(250)]
    assert sum(DENIED in line["error"]["message"] for line in lines if line["error"]) == 150
    provider.submit = whole
    again = ok(await desk.ann.post(f"/api/batches/{found['id']}/retry"), 202)
    async with desk.working():
        found = await desk.done(again["id"])
    assert (found["status"], found["count"]) == ("COMPLETED", 150)
    assert len(provider.ledger.paid) == 3, "what was answered is not paid for again"


async def test_a_look_or_two_that_they_strike_are_forgiven(
    desk: Desk, provider: EchoProvider, monkeypatch: pytest.MonkeyPatch
):
    whole, struck = provider.poll, []

    async def expiring(order, prepared, external_id):
        if len(struck) < 2:
            struck.append(external_id)
            raise Fatal(DENIED)
        return await whole(order, prepared, external_id)

    monkeypatch.setattr(provider, "poll", expiring)
    found = await desk.finished([request("a"), request("b")])
    assert (found["status"], found["ok"], len(struck)) == ("COMPLETED", 2, 2)
    assert len(provider.ledger.paid) == 1


@pytest.mark.parametrize("how", ["requeue", "retry"])
async def test_results_that_cannot_be_fetched_with_them_are_fetched_with_good_ones_and_not_ordered_again(
    desk: Desk, provider: EchoProvider, monkeypatch: pytest.MonkeyPatch, how: str
):
    async def expired(order, prepared, external_id):
        raise Fatal(DENIED)
        yield

    monkeypatch.setattr(provider, "fetch", expired)
    found = await desk.finished([request("a"), request("b")])
    assert (found["status"], found["error"]) == ("FAILED", DENIED)
    monkeypatch.undo()
    if how == "requeue":
        assert ok(await desk.ann.post("/api/inbox/requeue", json={"all": True}))["requeued"] == 1
    else:
        again = ok(await desk.ann.post(f"/api/batches/{found['id']}/retry"), 202)
        assert again["id"] == found["id"], "it goes on where it broke off"
    async with desk.working():
        found = await desk.done(found["id"])
    assert (found["status"], found["ok"]) == ("COMPLETED", 2)
    assert len(provider.ledger.paid) == 1

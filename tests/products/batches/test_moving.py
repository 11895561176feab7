"""Stopping, asking again, deleting; orders in doubt, money that is short, callbacks."""

import json

import pytest

from tests.engine.test_submitting import the_call_is_over
from tests.engine.working import eventually, on_sqlite
from tests.products.batches.desk import Desk, EchoProvider, request
from tests.server.api.site import ok, problem
from towpath import Price, Transient
from towpath.core import failpoints
from towpath.providers import Grade
from towpath.providers.simulator import Fault


async def test_cancelling_reaches_the_provider(desk: Desk, provider: EchoProvider):
    provider.simulator.arm(Fault.NEVER_ENDS)
    batch_id = await desk.make([request("a")])
    async with desk.working():
        await desk.until(batch_id, "IN_PROGRESS")
        await eventually(lambda: _waits(desk, batch_id, "provider"))
        problem(await desk.ann.post(f"/api/batches/{batch_id}/retry"), 409, "conflict")
        assert len(ok(await desk.ann.post(f"/api/batches/{batch_id}/cancel"))["cancelled"]) == 1
        assert (await desk.get(batch_id))["status"] == "CANCELLED"
        await eventually(lambda: "cancel" in provider.calls)
    assert ok(await desk.ann.post(f"/api/batches/{batch_id}/cancel"))["cancelled"] == []


async def test_a_retry_asks_only_what_failed_and_only_the_models_that_did(desk: Desk, provider: EchoProvider):
    requests = [request("a"), request("b", fail="m2"), {"custom_id": "c"}, request("d", fail=True)]
    first = await desk.finished(requests, models=["m1", "m2"])
    assert (first["status"], first["ok"], first["failed"]) == ("PARTIAL_COMPLETE", 3, 3)
    made = ok(await desk.ann.post(f"/api/batches/{first['id']}/retry"), 202)
    async with desk.working():
        second = await desk.done(made["id"])
    assert (second["retry_of"], second["count"], second["models"]) == (first["id"], 2, ["m1", "m2"])
    lines = await desk.results(made["id"])
    assert [(line["custom_id"], line["model"]) for line in lines] == [("b", "m2"), ("d", "m1"), ("d", "m2")]
    assert second["failed"] == 3
    assert sorted(len(lines) for lines in provider.requests.values()) == [1, 2, 3, 3]


async def test_without_results_everything_is_asked_again(desk: Desk):
    batch_id = await desk.make([request("a")])
    ok(await desk.ann.post(f"/api/batches/{batch_id}/cancel"))
    again = ok(await desk.ann.post(f"/api/batches/{batch_id}/retry"), 202)
    async with desk.working():
        assert (await desk.done(again["id"]))["status"] == "COMPLETED"
    problem(await desk.ann.post(f"/api/batches/{again['id']}/retry"), 409, "conflict")


async def test_deleting_takes_everything_with_it_but_a_dataset_that_another_names(desk: Desk):
    first = await desk.finished([request("a")])
    second = await desk.finished(None, dataset_ids=first["dataset_ids"])
    assert ok(await desk.ann.delete(f"/api/batches/{first['id']}")) == {"deleted": 1}
    problem(await desk.ann.get(f"/api/batches/{first['id']}"), 404, "not_found")
    assert await desk.app.list(subject=("batch", first["id"])) == []
    assert [key.split("/")[1] for key in await desk.blobs() if key.startswith("batches/")] == [second["id"]] * 3
    assert [key.split("/")[1] for key in await desk.blobs() if key.startswith("datasets/")] == second["dataset_ids"]


async def test_what_a_pruned_job_had_come_to_is_still_known(desk: Desk):
    found = await desk.finished([request("a"), request("b", fail=True)])
    await desk.app.remove([found["job_id"]])
    left = await desk.get(found["id"])
    assert (left["status"], left["job_id"], left["ok"], left["failed"]) == ("PARTIAL_COMPLETE", None, 1, 1)
    assert len(await desk.results(found["id"])) == 2


async def test_the_view_says_the_same_as_the_api(desk: Desk, provider: EchoProvider):
    provider.refuses.add("bad")
    found = await desk.finished([request("a")], models=["m1", "bad"])
    name = "towpath_batch_state" if desk.app.url.startswith("sqlite") else "towpath.batch_state"
    async with desk.app.transaction() as tx:
        [row] = await tx.fetch(f"SELECT id, provider_state FROM {name}")
    state = row["provider_state"]
    assert (json.loads(state) if isinstance(state, str) else state) == found["provider_state"]
    assert [job["status"] for job in found["provider_state"]["jobs"]] == ["COMPLETED", "FAILED"]


@on_sqlite
class TestInDoubt:
    @pytest.fixture
    def provider(self) -> EchoProvider:
        return EchoProvider(Grade.AMBIGUOUS)

    async def doubtful(self, desk: Desk, provider: EchoProvider) -> tuple[str, str]:
        provider.simulator.arm(Fault.LOST_ANSWER)
        batch_id = await desk.make([request("a")])

        async def waits_for(reason):
            return (await desk.get(batch_id))["waiting_for"] == reason

        await eventually(lambda: waits_for("provider_call"))
        await the_call_is_over(desk.app, await desk.app.get((await desk.get(batch_id))["job_id"]))
        await eventually(lambda: waits_for("submit_unknown"))
        return batch_id, (await desk.get(batch_id))["provider_jobs"][0]["id"]

    async def test_a_person_adopts_it(self, desk: Desk, provider: EchoProvider):
        async with desk.working():
            batch_id, order = await self.doubtful(desk, provider)
            path = f"/api/batches/{batch_id}/provider-jobs/{order}"
            adopted = ok(await desk.ann.post(f"{path}/adopt", json={"external_id": provider.ledger.paid[0].external_id}))
            assert adopted["state"] == "submitted"
            assert (await desk.done(batch_id))["status"] == "COMPLETED"
        assert len(provider.ledger.paid) == 1

    async def test_the_job_of_another_order_cannot_be_adopted(self, desk: Desk, provider: EchoProvider):
        async with desk.working():
            theirs = ok(await desk.send([request("secret")], by=desk.bob), 202)["id"]

            async def known() -> list[str | None]:
                ordered = ok(await desk.bob.get(f"/api/batches/{theirs}"))["provider_jobs"]
                return [one["external_id"] for one in ordered if one["external_id"]]

            await eventually(known)
            batch_id, order = await self.doubtful(desk, provider)
            paid = [one.external_id for one in provider.ledger.paid]
            assert await known() == paid[:1]
            path = f"/api/batches/{batch_id}/provider-jobs/{order}/adopt"
            told = problem(await desk.ann.post(path, json={"external_id": paid[0]}), 409, "conflict")
            assert "belongs to another order" in told["detail"]
            assert (await desk.get(batch_id))["waiting_for"] == "submit_unknown"
            ok(await desk.ann.post(path, json={"external_id": paid[1]}))
            await desk.done(batch_id)

    async def test_a_person_has_it_sent_again(self, desk: Desk, provider: EchoProvider):
        async with desk.working():
            batch_id, order = await self.doubtful(desk, provider)
            ok(await desk.ann.post(f"/api/batches/{batch_id}/provider-jobs/{order}/resubmit"))
            assert (await desk.done(batch_id))["status"] == "COMPLETED"
        assert len(provider.ledger.paid) == 2


@on_sqlite
async def test_a_batch_above_the_limit_waits_visibly_and_goes_on_when_it_is_raised(desk: Desk, provider: EchoProvider):
    await desk.app.prices.put({"m1": Price(1_000_000, 2_000_000)})
    asked = {"requests": [request("a", max_tokens=10)], "models": ["m1"]}
    told = ok(await desk.ann.post("/api/batches/estimate", json=asked))
    assert (told["requests"], told["tokens_out"], told["whole"], told["unknown_models"]) == (1, 10, True, [])
    await desk.app.spending.limit_tenant("north", 5)
    batch_id = await desk.make(asked["requests"])
    async with desk.working():
        waiting = await desk.until(batch_id, "IN_PROGRESS")
        assert (waiting["waiting_for"], waiting["estimate_cents"]) == ("budget", told["cost_cents"])
        assert provider.ledger.paid == []
        await desk.app.spending.limit_tenant("north", 1000)
        found = await desk.done(batch_id)
    assert (found["status"], found["cost_cents"]) == ("COMPLETED", 20.0)
    [limit] = await desk.app.spending.limits()
    assert limit.spent == 20.0


@on_sqlite
async def test_a_callback_is_believed_only_with_the_providers_signature(desk: Desk, provider: EchoProvider):
    path = "/api/providers/SCRIPTED/callback"
    problem(await desk.nobody.post(path, json={}), 401, "unauthenticated")
    answer = await desk.nobody.post(path, json={}, headers={"signature": "good"})
    assert ok(answer) == {"taken": False}, "nobody waits for such a job"
    problem(await desk.nobody.post("/api/providers/NOBODY/callback", json={}), 404, "not_found")
    problem(await desk.nobody.post(path, json="x" * 70_000), 413, "too_large")


@on_sqlite
@pytest.mark.parametrize("where", ["submit.intended", "submit.prepared", "submit.accepted", "poll.answered"])
async def test_nothing_is_paid_twice_wherever_it_breaks_off(desk: Desk, provider: EchoProvider, where: str):
    died = []

    def die(name):
        if name == where and not died:
            died.append(name)
            raise RuntimeError("broken off")

    batch_id = await desk.make([request("a")])
    failpoints.install(die)
    try:
        async with desk.working():
            if where == "submit.accepted":
                job = await desk.app.get((await desk.get(batch_id))["job_id"])
                await eventually(lambda: _waits(desk, batch_id, "provider_call"))
                await the_call_is_over(desk.app, job)
            found = await desk.done(batch_id)
    finally:
        failpoints.install(None)
    assert (died, found["status"], len(provider.ledger.paid)) == ([where], "COMPLETED", 1)


async def _waits(desk: Desk, batch_id: str, reason: str) -> bool:
    return (await desk.get(batch_id))["waiting_for"] == reason


@on_sqlite
async def test_results_that_break_off_in_the_middle_are_fetched_again_and_nothing_is_ordered_twice(
    desk: Desk, provider: EchoProvider, monkeypatch: pytest.MonkeyPatch
):
    whole, broken = provider.fetch, []

    async def breaking(order, prepared, external_id):
        async for result in whole(order, prepared, external_id):
            yield result
            if not broken:
                broken.append(result.ref)
                raise Transient("the connection was cut")

    monkeypatch.setattr(provider, "fetch", breaking)
    found = await desk.finished([request("a"), request("b")])
    assert (broken, found["status"], found["ok"]) == (["r1"], "COMPLETED", 2)
    assert len(provider.ledger.paid) == 1

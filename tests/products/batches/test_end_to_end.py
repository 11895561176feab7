"""From requests over HTTP to results in their order, at a provider, on both databases."""

import json

from tests.engine.working import on_sqlite
from tests.products.batches.desk import Desk, EchoProvider, request
from tests.server.api.site import ok, problem
from towpath.batches.provider_state import CompletionState


async def test_requests_are_answered_in_their_order_whatever_order_the_answers_come_in(desk: Desk, provider: EchoProvider):
    batch_id = await desk.make([request("a"), request("b"), request("c")], title="  three\nthings ")
    waiting = await desk.get(batch_id)
    assert (waiting["status"], waiting["title"], waiting["provider_state"]) == ("PENDING", "three things", None)
    problem(await desk.ann.get(f"/api/batches/{batch_id}/results"), 404, "not_found")
    async with desk.working():
        found = await desk.done(batch_id)
    assert (found["status"], found["error"], found["warning"]) == ("COMPLETED", None, None)
    assert (found["count"], found["invalid"], found["ok"], found["failed"]) == (3, 0, 3, 0)
    assert (found["done"], found["total"], found["has_results"]) == (3, 3, True)
    assert await desk.results(batch_id) == [
        {"custom_id": name, "model": "m1", "text": None, "response": {"echo": name, "by": "m1"}, "error": None}
        for name in "abc"
    ]
    [ordered] = found["provider_jobs"]
    assert (ordered["state"], ordered["model"], ordered["shard"], ordered["next_poll_at"]) == ("completed", "m1", 0, None)
    assert ordered["polls"] >= 2
    state = found["provider_state"]
    assert CompletionState.model_validate(state).jobs[0].external_job_id == provider.ledger.paid[0].external_id
    assert state["jobs"][0]["status"] == "COMPLETED"
    assert state["jobs"][0]["output_uri"] == f"mem://{ordered['external_id']}"
    assert len(provider.cleaned) == 1
    assert [key for key in await desk.blobs() if "/work/" in key] == []


async def test_each_model_is_asked_each_request_and_shards_are_put_together(desk: Desk, provider: EchoProvider):
    names = [f"n{number}" for number in range(205)]
    found = await desk.finished([request(name) for name in names], models=["m1", "m2"])
    assert found["status"] == "COMPLETED"
    assert [(row["model"], row["shard"]) for row in found["provider_jobs"]] == [
        (model, shard) for model in ("m1", "m2") for shard in range(3)
    ]
    lines = await desk.results(found["id"])
    assert [(line["custom_id"], line["model"]) for line in lines] == [(name, m) for name in names for m in ("m1", "m2")]
    assert all(line["response"]["echo"] == line["custom_id"] for line in lines)
    assert len(provider.ledger.paid) == 6


async def test_what_one_request_fails_of_is_told_in_its_place(desk: Desk):
    found = await desk.finished([request("a"), request("b", fail=True), request("c", silent=True)])
    assert (found["status"], found["ok"], found["failed"]) == ("PARTIAL_COMPLETE", 1, 2)
    assert "2 of its requests" in found["warning"]
    lines = await desk.results(found["id"])
    assert [line["error"] for line in lines] == [
        None,
        {"code": "server_error", "message": "it did not work"},
        {"code": "failed", "message": "SCRIPTED has no result of it"},
    ]


async def test_a_model_that_is_refused_makes_the_batch_partial_and_all_of_them_fail_it(desk: Desk, provider: EchoProvider):
    provider.refuses |= {"bad", "worse"}
    found = await desk.finished([request("a")], models=["m1", "bad"])
    assert found["status"] == "PARTIAL_COMPLETE"
    lines = await desk.results(found["id"])
    assert lines[0]["response"] == {"echo": "a", "by": "m1"}
    assert "no model bad" in lines[1]["error"]["message"]
    failed = await desk.finished([request("a")], models=["bad", "worse"])
    assert (failed["status"], failed["failed"]) == ("FAILED", 2)
    assert "no model bad" in failed["error"]
    assert len(await desk.results(failed["id"])) == 2


async def test_an_uploaded_file_and_the_dataset_of_an_earlier_batch_are_inputs_too(desk: Desk):
    from towpath import assets

    async def pieces():
        yield (
            json.dumps(request("a")).encode() + b"\n\n" + json.dumps(request("b")).encode()
        )  # no end of line, and an empty one

    asset = await assets.receive(desk.app, "north", "lines.jsonl", pieces(), kinds=None, created_by=None)
    found = await desk.finished(None, input=asset.id)
    assert (found["status"], found["title"], found["count"]) == ("COMPLETED", "lines.jsonl", 2)
    again = await desk.finished(None, dataset_ids=[*found["dataset_ids"], *found["dataset_ids"]])
    assert (again["status"], again["count"], again["invalid"]) == ("COMPLETED", 4, 2), "names are unique in a batch"
    problem(await desk.send(None, input=asset.id, by=desk.bob), 404, "not_found")
    problem(await desk.send(None, dataset_ids=found["dataset_ids"], by=desk.bob), 422, "invalid")


@on_sqlite
async def test_lists_show_the_newest_first_and_filter_by_status(desk: Desk):
    first = await desk.finished([request("a")])
    second = await desk.make([request("a")])
    listed = ok(await desk.ann.get("/api/batches"))["items"]
    assert [(one["id"], one["status"]) for one in listed] == [(second, "PENDING"), (first["id"], "COMPLETED")]
    page = ok(await desk.ann.get("/api/batches", params={"status": "pending"}))
    assert [one["id"] for one in page["items"]] == [second]
    page = ok(await desk.ann.get("/api/batches", params={"limit": 1}))
    assert page["next"] == second
    assert ok(await desk.bob.get("/api/batches"))["items"] == []
    assert len(ok(await desk.root.get("/api/batches"))["items"]) == 2
    assert ok(await desk.ann.get("/api/providers"))["providers"][0]["name"] == "LOCAL"

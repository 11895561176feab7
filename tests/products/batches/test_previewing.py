"""What people look at: the beginning of the results, what each order came to, and files sent for batches."""

import json
from base64 import b64encode

import pytest

from tests.engine.working import on_sqlite
from tests.products.batches.desk import Desk, EchoProvider, request
from tests.server.api.site import ok, problem
from towpath import Price
from towpath.batches.completion_results import answer_line, text_of
from towpath.providers.completions import answered


@on_sqlite
async def test_the_first_lines_are_shown_as_text_or_with_what_went_wrong(desk: Desk):
    batch_id = await desk.make([request("a"), request("b", fail=True), {"custom_id": "c"}, request("d")])
    problem(await desk.ann.get(f"/api/batches/{batch_id}/preview"), 404, "not_found")
    async with desk.working():
        await desk.done(batch_id)
    shown = ok(await desk.ann.get(f"/api/batches/{batch_id}/preview", params={"limit": 3}))
    assert shown["more"] is True
    assert [(line["custom_id"], line["model"]) for line in shown["lines"]] == [("a", "m1"), ("b", "m1"), ("c", None)]
    assert json.loads(shown["lines"][0]["text"]) == {"echo": "a", "by": "m1"}
    assert shown["lines"][1]["error"] == {"code": "server_error", "message": "it did not work"}
    assert shown["lines"][2]["error"]["code"] == "invalid_input"
    failed = ok(await desk.ann.get(f"/api/batches/{batch_id}/preview", params={"failed": True}))
    assert ([line["custom_id"] for line in failed["lines"]], failed["more"]) == (["b", "c"], False)
    problem(await desk.bob.get(f"/api/batches/{batch_id}/preview"), 404, "not_found")


@pytest.mark.parametrize(
    "response",
    [
        {"choices": [{"message": {"content": "the miller"}}]},
        {"choices": [{"message": {"content": [{"type": "text", "text": "the "}, {"type": "text", "text": "miller"}]}}]},
        {"content": [{"type": "text", "text": "the miller"}]},
        {"candidates": [{"content": {"parts": [{"text": "the "}, {"text": "miller"}]}}]},
    ],
)
def test_what_was_said_is_found_in_the_answers_of_every_provider(response):
    assert text_of(response) == "the miller"


@pytest.mark.parametrize("response", [{"choices": []}, {"content": "x"}, [1], "plain", {"candidates": [{}]}])
def test_in_an_answer_of_another_shape_nothing_was_said(response):
    assert text_of(response) is None


def test_a_line_has_what_was_said_beside_the_providers_own_answer():
    raw = {"candidates": [{"content": {"parts": [{"thought": True, "text": "hm"}, {"text": "the miller"}]}}]}
    line = answer_line({"custom_id": "a"}, "m", answered("the miller", raw), None)
    assert line == {"custom_id": "a", "model": "m", "text": "the miller", "response": raw, "error": None}
    assert answer_line({"custom_id": "a"}, None, None, {"code": "failed"})["text"] is None


@on_sqlite
async def test_each_order_says_what_came_of_it_and_what_it_cost(desk: Desk, provider: EchoProvider):
    await desk.app.prices.put({"m1": Price(1_000_000, 1_000_000)})
    provider.refuses.add("m2")
    asked = [request(f"n{number}", **({"fail": True} if number < 2 else {})) for number in range(150)]
    batch_id = await desk.make(asked, models=["m1", "m2"])
    async with desk.working():
        found = await desk.done(batch_id)
    told = [
        (row["model"], row["shard"], row["count"], row["ok"], row["failed"], row["cost_cents"])
        for row in found["provider_jobs"]
    ]
    assert told == [
        ("m1", 0, 100, 98, 2, 98 * 15.0), ("m1", 1, 50, 50, 0, 50 * 15.0),
        ("m2", 0, 100, 0, 100, 0.0), ("m2", 1, 50, 0, 50, 0.0),
    ]  # fmt: skip
    assert found["cost_cents"] == 148 * 15.0


@on_sqlite
async def test_a_file_that_is_sent_for_a_batch_is_its_input(desk: Desk):
    data = b"\n".join(json.dumps(request(name)).encode() for name in "ab")
    named = ",".join(
        f"{key} {b64encode(value).decode()}" for key, value in {"filename": b"q.jsonl", "purpose": b"batch"}.items()
    )
    tus = {"Tus-Resumable": "1.0.0", "Upload-Length": str(len(data)), "Upload-Metadata": named}
    made = await desk.ann.post("/api/uploads", headers=tus)
    place = made.headers["Location"]
    sent = {"Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    async with desk.working():
        assert (await desk.ann.patch(place, headers=sent, content=data)).status_code == 204
        upload = ok(await desk.ann.get(place))
        assert upload["state"] == "done"
        found = await desk.done(await desk.make(input=upload["result"]["asset_id"]))
    assert (found["status"], found["title"], found["ok"]) == ("COMPLETED", "q.jsonl", 2)
    refused = tus | {"Upload-Metadata": f"{named},title eA=="}
    assert "no options" in problem(await desk.ann.post("/api/uploads", headers=refused), 422, "invalid")["detail"]

"""What cannot be asked is told in its place, and the others are asked."""

import json

import pytest

from tests.engine.working import on_sqlite
from tests.products.batches.desk import Desk, EchoProvider, request
from tests.server.api.site import ok, problem
from towpath import assets

BROKEN = [
    (b'{"custom_id": "x", "body"', "no JSON"),
    (b"[1, 2]", "no JSON object"),
    (b'"text"', "no JSON object"),
    (b"\xff\xfe", "no JSON"),
    (b'{"custom_id": "x", "body": {"say": NaN}}', "NaN is no number"),
    (b"[" * 100_000, "no JSON"),
    (b'{"body": {"say": "a"}}', "no custom_id"),
    (b'{"custom_id": 7, "body": {"say": "a"}}', "no custom_id"),
    (b'{"custom_id": "", "body": {"say": "a"}}', "no custom_id"),
    (b'{"custom_id": "a\\u0000b", "body": {"say": "a"}}', "cannot be shown"),
    (b'{"custom_id": "\\ud800", "body": {"say": "a"}}', "cannot be shown"),
    (json.dumps({"custom_id": "x" * 513, "body": {"say": "a"}}).encode(), "longer than 512"),
    (b'{"custom_id": "x"}', "no body"),
    (b'{"custom_id": "x", "body": []}', "no body"),
    (b'{"custom_id": "x", "body": {}}', "no body"),
    (b'{"custom_id": "x", "body": {"say": "a"}, "models": "m1"}', "models is a list"),
    (b'{"custom_id": "x", "body": {"say": "a"}, "models": ["other"]}', "does not ask the model 'other'"),
    (b'{"custom_id": "good", "body": {"say": "again"}}', "that of an earlier line"),
    (b'{"custom_id": "x", "body": {"say": "' + b"a" * (8 << 20) + b'"}}', "longer than 8,388,608 bytes"),
]


async def uploaded(desk: Desk, data: bytes) -> str:
    async def pieces():
        yield data

    return (await assets.receive(desk.app, "north", "lines.jsonl", pieces(), kinds=None, created_by=None)).id


@on_sqlite
async def test_every_kind_of_broken_line_is_told_with_its_reason_and_stops_no_other(desk: Desk):
    good, last = json.dumps(request("good")).encode(), json.dumps(request("last")).encode()
    data = b"\n".join([good, *(line for line, _ in BROKEN), b"", b"  ", last])
    found = await desk.finished(None, input=await uploaded(desk, data))
    assert (found["status"], found["count"], found["invalid"], found["ok"]) == ("COMPLETED", len(BROKEN) + 2, len(BROKEN), 2)
    assert found["warning"] == f"{len(BROKEN)} of its requests could not be asked"
    lines = await desk.results(found["id"])
    assert [line["custom_id"] for line in (lines[0], lines[-1])] == ["good", "last"]
    for (_, reason), line, told in zip(BROKEN, lines[1:-1], found["invalid_inputs"], strict=True):
        assert reason in line["error"]["message"]
        assert line["error"]["code"] == "invalid_input"
        assert (line["response"], told["reason"]) == (None, line["error"]["message"])
    assert [told["line"] for told in found["invalid_inputs"]] == list(range(2, len(BROKEN) + 2))


@on_sqlite
@pytest.mark.parametrize(
    ("requests", "strict", "status"),
    [
        ([request("a"), {"custom_id": "b"}], False, "COMPLETED"),
        ([request("a"), {"custom_id": "b"}], True, "PARTIAL_COMPLETE"),
        ([{"custom_id": "b"}], False, "FAILED"),
        ([request("a", fail=True), {"custom_id": "b"}], False, "FAILED"),
    ],
)
async def test_inputs_that_cannot_be_asked_count_only_if_they_are_to(desk: Desk, requests, strict, status):
    found = await desk.finished(requests, strict_inputs=strict)
    assert (found["status"], found["invalid"]) == (status, 1)
    assert len(await desk.results(found["id"])) == len(requests)


@on_sqlite
async def test_an_empty_file_fails_in_words(desk: Desk, provider: EchoProvider):
    found = await desk.finished(None, input=await uploaded(desk, b"\n\n"))
    assert (found["status"], found["error"]) == ("FAILED", "there are no requests in it")
    assert provider.ledger.paid == []


@on_sqlite
async def test_what_does_not_fit_is_refused_before_anything_is_stored(desk: Desk):
    one = [request("a")]
    assert "NOBODY" in problem(await desk.send(one, provider="NOBODY"), 422, "invalid")["detail"]
    assert "models" in problem(await desk.send(one, models=[]), 422, "invalid")["detail"]
    problem(await desk.send([]), 422, "invalid")
    problem(await desk.send(None), 422, "invalid")
    problem(await desk.send(one, dataset_ids=["0" * 8 + "-0000-0000-0000-" + "0" * 12]), 422, "invalid")
    problem(await desk.send(None, dataset_ids=["0" * 8 + "-0000-0000-0000-" + "0" * 12]), 422, "invalid")
    problem(await desk.send(None, input="0" * 8 + "-0000-0000-0000-" + "0" * 12), 404, "not_found")
    problem(await desk.send(one, window="soon"), 422, "invalid")
    problem(await desk.send(one, surprise=1), 422, "invalid")
    problem(await desk.send(one, by=desk.nobody), 401, "unauthenticated")
    assert ok(await desk.ann.get("/api/batches"))["items"] == []


@on_sqlite
async def test_somebody_elses_batch_is_none(desk: Desk):
    found = await desk.finished([request("a")])
    order = found["provider_jobs"][0]["id"]
    for method, path in [
        ("GET", ""), ("GET", "/results"), ("POST", "/cancel"), ("POST", "/retry"), ("DELETE", ""),
        ("POST", f"/provider-jobs/{order}/resubmit"),
    ]:  # fmt: skip
        problem(await desk.bob.request(method, f"/api/batches/{found['id']}{path}"), 404, "not_found")
    adopt = f"/api/batches/{found['id']}/provider-jobs/{order}/adopt"
    problem(await desk.bob.post(adopt, json={"external_id": "x"}), 404, "not_found")
    problem(await desk.ann.post(adopt, json={"external_id": "x"}), 409, "conflict")
    ok(await desk.root.get(f"/api/batches/{found['id']}"))

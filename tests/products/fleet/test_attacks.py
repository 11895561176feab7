"""People who try other people's tasks, workers that make things up, and bodies that are no messages."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.engine.working import on_sqlite
from tests.products.fleet.harbour import Bucket
from tests.products.fleet.test_guards import begun
from tests.products.fleet.test_over_queues import docks
from tests.products.fleet.yard import SHOUT, Hand, Yard, report
from tests.server.api.site import ok, problem
from towpath import App, ConfigurationError, SchemaInvalid
from towpath.fleet import arrivals, claiming, reporting, stored
from towpath.fleet.arrivals import Intake
from towpath.fleet.events import Created
from towpath.fleet.intake import Wanted
from towpath.fleet.messages import HandedTask, WorkerReport, read_status, read_task
from towpath.fleet.notices import remember
from towpath.fleet.secrets import task_secret

__all__ = ["docks"]

CHECKSUM = "0" * 64


@on_sqlite
async def test_another_tenants_tasks_are_as_if_they_were_not_there(yard: Yard) -> None:
    task_id = await yard.make(SHOUT)
    theirs = f"/api/fleet/tasks/{task_id}"
    for method, path in (
        ("GET", theirs), ("GET", f"{theirs}/result"), ("POST", f"{theirs}/cancel"), ("POST", f"{theirs}/retry"),
        ("DELETE", theirs),
    ):  # fmt: skip
        told = problem(await yard.bob.request(method, path), 404, "not_found")
        nothing = problem(await yard.bob.request(method, path.replace(task_id, "0" + task_id[1:-1] + "0")), 404, "not_found")
        assert told["detail"].replace(task_id, "") == nothing["detail"].replace("0" + task_id[1:-1] + "0", "")
    problem(await yard.bob.get("/api/fleet/tasks", params={"tenant": "north"}), 403, "forbidden")
    asset = await yard.file()
    problem(await yard.bob.post("/api/fleet/tasks", json={"asset_id": asset, "operation": SHOUT}), 404, "not_found")
    assert ok(await yard.bob.get("/api/fleet/tasks"))["items"] == []
    assert (await yard.task(task_id))["status"] == "PENDING"
    for path in ("/api/fleet/workers", "/api/fleet/workers?limit=1"):
        assert (await yard.bob.get(path)).status_code == 403
    assert (await yard.bob.post("/api/fleet/workers", json={"name": "mine"})).status_code == 403


@on_sqlite
async def test_a_worker_of_one_tenant_cannot_speak_for_anothers_task(yard: Yard) -> None:
    async with yard.working():
        _, task = await begun(yard)
        theirs = await yard.hand("south's", tenant="south")
        told = await theirs.say(task, "COMPLETED", output={"size": 1, "sha256": CHECKSUM})
        assert (told["verdict"], told["get_url"]) == ("foreign", None)
        assert (await theirs.say(task, "IN-PROGRESS", refresh=True))["put_url"] is None
    assert (await yard.task(task.task))["status"] == "IN-PROGRESS"


@on_sqlite
async def test_a_forged_secret_opens_nothing(yard: Yard) -> None:
    async with yard.working():
        hand, task = await begun(yard)
        for shown in ("", "x", "é" * 20, "\x00", "%00", "A" * 43, task_secret("another key", task.task, 1)):
            forged = task.model_copy(update={"secret": shown})
            assert (await hand.say(forged, "FAILED"))["verdict"] == "foreign"
            assert (await reporting.take(yard.app, report(forged, "of-a-queue", 99, "FAILED"))).verdict == "foreign"
        ahead = task.model_copy(update={"attempt": 2})
        assert (await hand.say(ahead, "COMPLETED", output={"size": 1, "sha256": CHECKSUM}))["verdict"] == "foreign"
        other = await yard.hand("other")
        for one in (hand, other):
            assert await one.claim(wait_seconds=0) is None  # what was claimed is handed to nobody else
        assert (await other.say(task, "IN-PROGRESS"))["verdict"] == "foreign"
    assert (await yard.task(task.task))["status"] == "IN-PROGRESS"


@on_sqlite
async def test_a_worker_whose_token_was_revoked_while_it_works_is_not_heard_any_more(yard: Yard) -> None:
    async with yard.working():
        hand, task = await begun(yard)
        output = await hand.put(task, b"too late")
        ok(await yard.root.delete(f"/api/fleet/workers/{hand.id}"))
        told = {
            "task": task.task, "attempt": 1, "secret": task.secret, "worker_id": hand.id, "sequence": 10**6,
            "status": "COMPLETED", "output": output,
        }  # fmt: skip
        assert (await hand.client.post("/api/fleet/status", json=told)).status_code == 401
        assert (await hand.client.post("/api/fleet/claim", json={"operations": [SHOUT]})).status_code == 401
    assert (await yard.task(task.task))["status"] == "IN-PROGRESS"


@on_sqlite
async def test_nobody_passes_through_a_queue_as_a_worker_with_a_token(yard: Yard) -> None:
    """What workers with queues call themselves is all that is known of them."""
    hand = await yard.hand()
    await hand.claim(wait_seconds=0)
    await reporting.greet(yard.app, WorkerReport(worker_id=hand.id, name="an impostor", host="elsewhere", slots=9000))
    [worker] = ok(await yard.root.get("/api/fleet/workers"))["items"]
    assert (worker["name"], worker["host"], worker["slots"], worker["via"]) == ("by hand", "", 1, "https")


def message(task: HandedTask, hand: Hand) -> dict[str, Any]:
    return {
        "task": task.task, "attempt": task.attempt, "secret": task.secret, "worker_id": hand.id, "sequence": 77,
        "status": "IN-PROGRESS",
    }  # fmt: skip


WRONG: list[dict[str, Any]] = [
    {"attempt": 0}, {"attempt": 10**30}, {"attempt": "1; DROP TABLE"}, {"sequence": -1}, {"sequence": 10**40},
    {"sequence": 1.5}, {"progress": "NaN"}, {"progress": -1}, {"progress": 1e300}, {"total": "Infinity"},
    {"status": "COMPLETED", "output": {"size": -1, "sha256": CHECKSUM}}, {"output": {"size": 1, "sha256": "../../etc"}},
    {"output": {"size": 10**40, "sha256": CHECKSUM}}, {"status": "DELETED"}, {"status": None}, {"status": ["IN-PROGRESS"]},
    {"heartbeat_seconds": 0}, {"heartbeat_seconds": 1e9}, {"notes": [{}]}, {"notes": [{"number": 1, "name": "x"}] * 101},
    {"used": [{"cost_cents": -5}]}, {"used": [{"cost_cents": "Infinity"}]}, {"task": "../../x"}, {"task": "x" * 65},
    {"worker_id": "a b"}, {"extra": 1}, {"failure": {"category": "mine"}},
]  # fmt: skip


@on_sqlite
async def test_statuses_that_make_no_sense_are_refused_and_change_nothing(yard: Yard) -> None:
    async with yard.working():
        hand, task = await begun(yard)
        for wrong in WRONG:
            answer = await hand.client.post("/api/fleet/status", json=message(task, hand) | wrong)
            assert answer.status_code == 422, wrong
            with pytest.raises(SchemaInvalid):
                read_status(json.dumps(message(task, hand) | wrong))
        sent = await stored.newest(yard.app, task.task)
    assert sent is not None
    assert (sent.sequence, sent.progress, sent.open) == (hand.sequence, None, True)


@on_sqlite
async def test_bodies_that_are_no_messages_are_refused(yard: Yard) -> None:
    hand = await yard.hand()
    for path in ("/api/fleet/claim", "/api/fleet/status"):
        for body in (b"", b"\xff\xfe\x00", b"[]", b"null", b'{"a":' * 3000, b'"' + b"x" * 1000):
            headers = {"Content-Type": "application/json"}
            answer = await hand.client.post(path, content=body, headers=headers)
            assert answer.status_code in (400, 422), (path, body[:20], answer.status_code)
        answer = await hand.client.post(path, content=b"x" * (9 * 2**20), headers={"Content-Type": "application/json"})
        assert answer.status_code == 413, path
        answer = await hand.client.post(path, content=b"<xml/>", headers={"Content-Type": "text/xml"})
        assert answer.status_code in (415, 422)
    for wrong in (
        {"operations": []}, {"operations": ["x"] * 101}, {"operations": ["a b"]}, {"wait_seconds": 1e9}, {"slots": 10**12},
        {"slots": 0}, {"tenant": "x"},
    ):  # fmt: skip
        answer = await hand.client.post("/api/fleet/claim", json={"operations": [SHOUT]} | wrong)
        assert answer.status_code == 422, wrong


@pytest.mark.parametrize("body", ["x" * 300_000, "{" * 200_000, "[" * 200_000, '{"kind": "worker"}', "7", ""])
def test_messages_of_queues_are_no_larger_and_no_deeper_than_ours(body: str) -> None:
    for read in (read_status, read_task):
        with pytest.raises(SchemaInvalid):
            read(body)


@on_sqlite
async def test_a_notice_makes_tasks_of_our_own_buckets_and_folders_only(yard: Yard, docks: Bucket) -> None:
    await remember(yard.app, Intake(docks.place, docks.output, "", Wanted(), "north"))
    await docks.put("a.txt", b"one")
    good = json.loads(docks.notice("a.txt", b"one"))["Records"][0]
    key = good["s3"]["object"]["key"]

    def record(**change: str) -> dict[str, Any]:
        told = json.loads(json.dumps(good))
        told["s3"]["object"]["key"] = change.get("key", key)
        told["s3"]["bucket"]["name"] = change.get("bucket", docks.name)
        return dict(told)

    strange = [
        record(bucket="somebody-elses"), record(bucket="../" + docks.name), record(bucket="file:///etc"),
        record(key="/etc/passwd"), record(key=f"/{docks.place.folder}a.txt"),
        record(key=f"{docks.place.folder}../outside.txt"),
        record(key=f"{docks.place.folder}%2e%2e/outside.txt"), record(key=f"{docks.place.folder}/"),
        record(key=f"{docks.place.folder}//double"), record(key=f"{docks.place.folder}./here"),
        record(key=f"{docks.place.folder}towpath/../../x"), record(key="towpath/x/attempts/1/output"),
        record(key=f"{docks.place.folder}" + "x" * 1500),
    ]  # fmt: skip
    told = ok(await yard.ann.post("/api/fleet/events", json={"Records": [*strange, record()]}))
    assert told == {"taken": 1, "known": 0, "ignored": len(strange)}
    [task] = ok(await yard.ann.get("/api/fleet/tasks"))["items"]
    assert task["name"] == "a.txt"
    assert ok(await yard.bob.get("/api/fleet/tasks"))["items"] == []
    problem(await yard.bob.post("/api/fleet/events", json={"Records": [record()]}), 409, "conflict")


@on_sqlite
async def test_a_key_that_cannot_be_used_does_not_take_others_of_its_notice_along(yard: Yard, docks: Bucket) -> None:
    intake = Intake(docks.place, docks.output, "", Wanted(), "north")
    await docks.put("good.txt", b"one")
    for name in ("../x", "a//b"):
        found = Created(docks.name, docks.place.key(name))
        assert await arrivals.take(yard.app, intake, found) == arrivals.IGNORED
    assert await arrivals.take(yard.app, intake, Created(docks.name, docks.place.key("good.txt"))) == arrivals.TAKEN


@on_sqlite
async def test_a_task_whose_links_cannot_be_made_is_given_back_and_holds_up_nobody(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one of a bucket that this server has no credentials for."""
    hand = await yard.hand()
    first = await yard.make(SHOUT)
    async with yard.working():
        await yard.until(first, "QUEUED")
        second = await yard.make(SHOUT)
        await yard.until(second, "QUEUED")
        minted = claiming.mint

        async def mint(app: App, task: Any, *more: Any) -> Any:
            if task.id == first:
                raise ConfigurationError("there are no credentials for it here")
            return await minted(app, task, *more)

        monkeypatch.setattr(claiming, "mint", mint)
        assert (await hand.claimed()).task == second
        assert await hand.claim(wait_seconds=0) is None
        seen = await yard.task(first)
        assert (seen["status"], seen["worker_id"], seen["attempts"][0]["claimed_at"]) == ("QUEUED", None, None)
        monkeypatch.setattr(claiming, "mint", minted)
        task = await hand.claimed()
        assert (task.task, task.attempt) == (first, 1)
        await hand.say(task, "COMPLETED", output=await hand.put(task, b"x"))
        assert (await yard.done(first))["retries"] == 0


@on_sqlite
async def test_a_result_larger_than_files_may_be_is_refused(yard: Yard) -> None:
    async with yard.working():
        hand, task = await begun(yard)
        yard.app.settings = replace(yard.app.settings, max_upload_bytes=10)
        kind = {"Content-Type": "application/octet-stream", "Authorization": ""}
        assert (await hand.client.put(task.put_url, content=b"x" * 11, headers=kind)).status_code == 413
        assert [blob.key async for blob in yard.app.blobs.list("fleet")] == []


@on_sqlite
async def test_an_operation_may_not_be_any_text(yard: Yard) -> None:
    asset = await yard.file()
    for operation in ("", "a b", "../x", "x" * 300, "drop\x00"):
        problem(await yard.ann.post("/api/fleet/tasks", json={"asset_id": asset, "operation": operation}), 422, "invalid")
    huge = {"asset_id": asset, "operation": SHOUT, "settings": {"x": "y" * 20_000}}
    problem(await yard.ann.post("/api/fleet/tasks", json=huge), 422, "invalid")
    assert ok(await yard.ann.get("/api/fleet/tasks"))["items"] == []

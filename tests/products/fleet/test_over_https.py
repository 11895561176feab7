"""From an uploaded file to a result, by remote workers that ask over HTTPS and have nothing but links, on both databases."""

from __future__ import annotations

from tests.engine.working import eventually
from tests.products.fleet.yard import DAWDLE, SHOUT, STUMBLE, Yard
from tests.server.api.site import ok


async def test_a_file_is_worked_on_far_away_and_its_result_comes_back(yard: Yard) -> None:
    task_id = await yard.make(SHOUT, b"a quiet barge")
    assert (await yard.task(task_id))["status"] == "PENDING"
    async with yard.working(), yard.node("barge-1"):
        done = await yard.done(task_id)
    assert (done["status"], done["attempt"], done["retries"], done["worker"]) == ("COMPLETED", 1, 0, "barge-1")
    assert await yard.result(task_id) == b"A QUIET BARGE"
    assert done["result_bytes"] == 13
    [attempt] = done["attempts"]
    assert (attempt["outcome"], attempt["lease_until"]) == ("completed", None)
    assert attempt["made_at"] <= attempt["claimed_at"] <= attempt["ended_at"]
    [note] = done["notes"]
    assert (note["name"], note["fields"]) == ("shout.begun", {"bytes": 13})
    events = ok(await yard.ann.get(f"/api/jobs/{done['job_id']}/events"))["items"]
    assert [one["fields"] for one in events if one["name"] == "job.metered"] == [{"model": "lungs", "cost_cents": 1.5}]


async def test_a_failure_that_may_pass_is_tried_again_and_one_that_will_not_goes_to_the_inbox(yard: Yard) -> None:
    passing = await yard.make(STUMBLE, settings={"how": "transient", "times": 1})
    lasting = await yard.make(STUMBLE, settings={"how": "schema_invalid", "times": 9})
    async with yard.working(), yard.node():
        done, failed = await yard.done(passing), await yard.done(lasting)
    assert (done["status"], done["attempt"]) == ("COMPLETED", 2)
    assert [one["outcome"] for one in done["attempts"]] == ["failed", "completed"]
    assert (failed["status"], failed["failure_reason"], failed["attempt"]) == ("FAILED", "it stumbled", 1)
    assert failed["attempts"][0]["kind"] == "transcription"
    inbox = ok(await yard.ann.get("/api/inbox/jobs"))["items"]
    assert [one["id"] for one in inbox] == [failed["job_id"]]


async def test_a_failed_task_gets_a_fresh_start(yard: Yard) -> None:
    task_id = await yard.make(STUMBLE, settings={"how": "fatal", "times": 1})
    async with yard.working(), yard.node():
        await yard.done(task_id)
        again = ok(await yard.ann.post(f"/api/fleet/tasks/{task_id}/retry"), 202)
        assert again["id"] == task_id
        done = await yard.done(task_id)
    assert (done["status"], done["attempt"]) == ("COMPLETED", 2)
    refused = await yard.ann.post(f"/api/fleet/tasks/{task_id}/retry")
    assert refused.status_code == 409


async def test_a_cancelled_task_stops_its_worker(yard: Yard) -> None:
    task_id = await yard.make(DAWDLE)
    hand = await yard.hand()
    async with yard.working():
        task = await hand.claimed(DAWDLE)
        assert (await hand.say(task, "IN-PROGRESS"))["verdict"] == "accepted"
        assert (await yard.task(task_id))["status"] == "IN-PROGRESS"
        assert len(ok(await yard.ann.post(f"/api/fleet/tasks/{task_id}/cancel"))["cancelled"]) == 1
        assert (await yard.task(task_id))["status"] == "CANCELLED"

        async def told_to_stop() -> bool:
            return bool((await hand.say(task, "in_progress"))["cancelled"])

        await eventually(told_to_stop)
        output = await hand.client.put(task.put_url, content=b"late", headers={"Content-Type": "application/octet-stream"})
        assert output.status_code == 404
        assert (await hand.say(task, "COMPLETED", output={"size": 4, "sha256": "0" * 64}))["verdict"] == "over"
    assert (await yard.task(task_id))["status"] == "CANCELLED"


async def test_a_node_lets_go_of_a_task_that_was_cancelled(yard: Yard) -> None:
    task_id = await yard.make(DAWDLE)
    async with yard.working(), yard.node(heartbeat_seconds=0.05) as node:
        await yard.until(task_id, "IN-PROGRESS")
        await yard.ann.post(f"/api/fleet/tasks/{task_id}/cancel")
        await eventually(lambda: node.busy == 0)
    assert (await yard.task(task_id))["status"] == "CANCELLED"


async def test_a_deleted_task_is_gone_with_its_result(yard: Yard) -> None:
    task_id = await yard.make(SHOUT)
    async with yard.working(), yard.node():
        await yard.done(task_id)
    assert ok(await yard.ann.delete(f"/api/fleet/tasks/{task_id}")) == {"deleted": 1}
    assert (await yard.ann.get(f"/api/fleet/tasks/{task_id}")).status_code == 404
    assert [blob.key async for blob in yard.app.blobs.list("fleet")] == []

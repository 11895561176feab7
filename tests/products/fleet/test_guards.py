"""Workers that die, freeze, lie and come back: what they say counts only if it is about what they have."""

from __future__ import annotations

import time

import pytest

from tests.engine.working import eventually, on_sqlite
from tests.products.fleet.yard import DAWDLE, SHOUT, Hand, Yard, report
from tests.server.api.site import ok
from towpath import Transaction
from towpath.fleet import reporting, stored
from towpath.fleet.messages import HandedTask
from towpath.fleet.secrets import Link


async def lapse(yard: Yard, task: HandedTask) -> None:
    """Its worker's lease runs out now."""
    await in_the_past(yard, "lease_until", task)
    assert await yard.recover() == 1


async def in_the_past(yard: Yard, column: str, task: HandedTask) -> None:
    async def unit(tx: Transaction) -> None:
        dispatch = "towpath_fleet_dispatch" if yard.app.url.startswith("sqlite") else "towpath.fleet_dispatch"
        value = "1" if yard.app.url.startswith("sqlite") else "to_timestamp(1)"
        await tx.execute(f"UPDATE {dispatch} SET {column} = {value} WHERE task_id = '{task.task}'")

    await yard.app.transact(unit)


async def begun(yard: Yard, operation: str = SHOUT) -> tuple[Hand, HandedTask]:
    hand = await yard.hand()
    await yard.make(operation)
    task = await hand.claimed(operation)
    await hand.say(task, "IN-PROGRESS")
    return hand, task


async def test_a_worker_that_is_silent_past_its_lease_loses_the_task_and_what_it_says_later_changes_nothing(
    yard: Yard,
) -> None:
    async with yard.working():
        frozen, task = await begun(yard)
        await lapse(yard, task)
        waiting = await eventually(lambda: yard.task(task.task))
        assert waiting["attempts"][0]["outcome"] in (None, "lost")

        other = await yard.hand("other")
        again = await other.claimed(SHOUT)
        assert (again.task, again.attempt) == (task.task, 2)
        assert again.secret != task.secret
        assert again.put_url != task.put_url

        late = await frozen.client.put(task.put_url, content=b"late", headers={"Content-Type": "application/octet-stream"})
        assert late.status_code == 404
        assert (await frozen.say(task, "COMPLETED", output={"size": 4, "sha256": "0" * 64}))["verdict"] == "over"
        assert (await frozen.say(task, "IN-PROGRESS"))["cancelled"] is True
        await other.say(again, "COMPLETED", output=await other.put(again, b"in time"))
        done = await yard.done(task.task)
    assert (done["status"], done["retries"]) == ("COMPLETED", 1)
    assert [one["outcome"] for one in done["attempts"]] == ["lost", "completed"]
    assert await yard.result(task.task) == b"in time"


async def test_a_worker_that_is_heard_of_is_not_given_up(yard: Yard) -> None:
    async with yard.working():
        await begun(yard)
        assert await yard.recover() == 0


@on_sqlite
async def test_silence_again_and_again_ends_in_the_inbox(yard: Yard) -> None:
    hand = await yard.hand()
    await yard.make(SHOUT, max_attempts=2)
    async with yard.working():
        for attempt in (1, 2):
            task = await hand.claimed(SHOUT)
            assert task.attempt == attempt
            await lapse(yard, task)
        failed = await yard.done(task.task)
    assert (failed["status"], failed["retry_at"]) == ("FAILED", None)
    assert "not been heard of" in failed["failure_reason"]


@on_sqlite
async def test_a_task_that_nobody_takes_up_is_sent_anew(yard: Yard) -> None:
    task_id = await yard.make(SHOUT)
    async with yard.working():
        await yard.until(task_id, "QUEUED")
        sent = await stored.newest(yard.app, task_id)
        assert sent is not None
        await in_the_past(yard, "lease_until", HandedTask.model_construct(task=task_id))
        await yard.recover()
        again = await eventually(lambda: _attempt(yard, task_id, 2))
    assert again is not None


async def _attempt(yard: Yard, task_id: str, number: int) -> object:
    return await stored.attempt(yard.app, task_id, number)


@pytest.mark.parametrize(
    ("said", "stored_data", "why"),
    [
        ({"size": 7, "sha256": "0" * 64}, None, "not there"),
        ({"size": 9, "sha256": "0" * 64}, b"7 bytes", "there are 7"),
        ({"size": 7, "sha256": "0" * 64}, b"7 bytes", "another checksum"),
    ],
)
@on_sqlite
async def test_completed_is_believed_only_of_a_result_that_is_there_as_described(
    yard: Yard, said: dict[str, object], stored_data: bytes | None, why: str
) -> None:
    async with yard.working():
        liar, task = await begun(yard)
        if stored_data is not None:
            await liar.put(task, stored_data)
        assert (await liar.say(task, "COMPLETED", output=said))["verdict"] == "accepted"
        honest = await liar.claimed(SHOUT)
        assert honest.attempt == 2
        await liar.say(honest, "COMPLETED", output=await liar.put(honest, b"true"))
        done = await yard.done(task.task)
    assert done["status"] == "COMPLETED"
    first = done["attempts"][0]
    assert (first["outcome"], first["kind"]) == ("refused", "storage")
    assert why in first["reason"]


async def test_nobody_speaks_for_a_task_that_another_worker_has(yard: Yard) -> None:
    async with yard.working():
        _, task = await begun(yard)
        thief = await yard.hand("thief")
        assert (await thief.say(task, "COMPLETED", output={"size": 0, "sha256": "0" * 64}))["verdict"] == "foreign"
        guess = task.model_copy(update={"secret": "x" * len(task.secret)})
        assert (await thief.say(guess, "FAILED"))["verdict"] == "foreign"
        heard = await reporting.take(yard.app, report(task, "unheard-of", 99, "COMPLETED"))
        assert heard.verdict == "foreign"
        unknown = task.model_copy(update={"task": "01a1f5a1-44b0-7572-8638-170457b8d171"})
        assert (await thief.say(unknown, "FAILED"))["verdict"] == "foreign"
    assert (await yard.task(task.task))["status"] == "IN-PROGRESS"


@on_sqlite
async def test_messages_that_come_twice_or_late_change_nothing(yard: Yard) -> None:
    async with yard.working():
        hand, task = await begun(yard)
        hand.sequence = 10
        assert (await hand.say(task, "IN-PROGRESS", progress=7, total=9))["verdict"] == "accepted"
        hand.sequence = 10
        assert (await hand.say(task, "IN-PROGRESS", progress=8, total=9))["verdict"] == "stale"
        hand.sequence = 4
        assert (await hand.say(task, "IN-PROGRESS", progress=3))["verdict"] == "stale"
        assert (await yard.task(task.task))["progress"] == 7
        hand.sequence = 20
        output = await hand.put(task, b"done")
        assert (await hand.say(task, "COMPLETED", output=output))["verdict"] == "accepted"
        hand.sequence = 20
        assert (await hand.say(task, "COMPLETED", output=output))["verdict"] == "over"
        assert (await yard.done(task.task))["status"] == "COMPLETED"


@on_sqlite
async def test_a_task_whose_urls_have_ended_is_sent_anew_and_loses_no_attempt(yard: Yard) -> None:
    async with yard.working():
        hand, task = await begun(yard)
        await hand.say(task, "URL_EXPIRED")
        again = await hand.claimed(SHOUT)
        await hand.say(again, "COMPLETED", output=await hand.put(again, b"x"))
        done = await yard.done(task.task)
    assert (done["status"], done["retries"], done["attempt"]) == ("COMPLETED", 0, 2)
    assert done["attempts"][0]["outcome"] == "expired"


@on_sqlite
async def test_urls_are_made_anew_while_a_worker_works(yard: Yard) -> None:
    async with yard.working():
        hand, task = await begun(yard, DAWDLE)
        told = await hand.say(task, "IN-PROGRESS", refresh=True)
        assert told["urls_until"] >= task.urls_until
        fresh = task.model_copy(update={"put_url": told["put_url"]})
        await hand.say(task, "COMPLETED", output=await hand.put(fresh, b"later"))
        assert (await yard.done(task.task))["status"] == "COMPLETED"


@on_sqlite
async def test_a_link_opens_one_object_with_one_method_until_it_ends(yard: Yard) -> None:
    async with yard.working():
        hand, task = await begun(yard)
        assert (await yard.nobody.get(task.get_url)).content == b"a quiet barge"
        part = await yard.nobody.get(task.get_url, headers={"Range": "bytes=2-6"})
        assert (part.status_code, part.content) == (206, b"quiet")
        changed = await yard.nobody.get(task.get_url, headers={"If-Match": '"another"'})
        assert changed.status_code == 412
        kind = {"Content-Type": "application/octet-stream"}
        assert (await yard.nobody.put(task.get_url, content=b"x", headers=kind)).status_code == 404
        assert (await yard.nobody.get(task.put_url)).status_code == 404
        sent = await stored.newest(yard.app, task.task)
        assert sent is not None
        ended = Link("http://testserver", sent.link_key, task.task, task.attempt).url("GET", time.time() - 1)
        assert (await yard.nobody.get(ended)).status_code == 404
        forged = Link("http://testserver", "another key", task.task, task.attempt).url("GET", time.time() + 60)
        assert (await yard.nobody.get(forged)).status_code == 404
        await hand.say(task, "COMPLETED", output=await hand.put(task, b"done"))
        await yard.done(task.task)
        assert (await yard.nobody.get(task.get_url)).status_code == 404


@on_sqlite
async def test_workers_tokens_open_claims_and_statuses_only_and_can_be_ended(yard: Yard) -> None:
    hand = await yard.hand()
    assert (await hand.client.get("/api/fleet/tasks")).status_code == 401
    assert (await hand.client.get("/api/jobs")).status_code == 401
    assert (await yard.ann.post("/api/fleet/claim", json={"operations": [SHOUT]})).status_code == 401
    [worker] = ok(await yard.root.get("/api/fleet/workers"))["items"]
    assert worker["prefix"].startswith("tow_fleet_")
    ok(await yard.root.delete(f"/api/fleet/workers/{hand.id}"))
    assert (await hand.client.post("/api/fleet/claim", json={"operations": [SHOUT]})).status_code == 401


@on_sqlite
async def test_a_worker_of_one_tenant_gets_no_other_tenants_tasks(yard: Yard) -> None:
    theirs = await yard.hand("south's", tenant="south")
    ours = await yard.hand("north's", tenant="north")
    await yard.make(SHOUT)
    async with yard.working():
        task = await ours.claimed(SHOUT)
        await ours.say(task, "URL_EXPIRED")
        await eventually(lambda: _attempt(yard, task.task, 2))
        assert await theirs.claim(SHOUT, wait_seconds=0) is None
        assert await ours.claim(DAWDLE, wait_seconds=0) is None  # nor what it does not know


@on_sqlite
async def test_urls_are_shown_to_administrators_without_their_signatures(yard: Yard) -> None:
    async with yard.working():
        _, task = await begun(yard)
        seen = await yard.task(task.task, by=yard.root)
    assert seen["presigned_get_url"].endswith(f"/api/fleet/objects/{task.task}/1?…")
    assert (await yard.task(task.task))["presigned_get_url"] is None

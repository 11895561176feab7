"""From an object in a bucket to a result in another folder of it: a real object store, real queues, and workers that have
nothing but the queues and what tasks bring."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import boto3
import httpx
import pytest

from tests.engine.working import eventually, on_sqlite
from tests.products.fleet.harbour import Bucket, Harbour, Lanes, opened_harbour
from tests.products.fleet.operations import DAWDLE, SHOUT, STUMBLE
from tests.products.fleet.yard import Yard, report
from tests.server.api.site import ok, problem
from tests.services.sqs import SqsServer
from tests.services.weed import BUCKET, WeedServer
from towpath import Settings
from towpath.fleet import moving, stored
from towpath.fleet.arrivals import Intake
from towpath.fleet.intake import Wanted
from towpath.fleet.messages import read_task
from towpath.fleet.notices import remember

_numbers = count(1)


@pytest.fixture
def docks(s3_server: WeedServer, sqs_server: SqsServer, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """Credentials and endpoints of both in the environment, as an orchestrator finds them."""
    for name, value in s3_server.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", sqs_server.endpoint)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    return Bucket(s3_server.endpoint, BUCKET, f"fleet-{next(_numbers)}")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(blobs_url=(tmp_path / "blobs").as_uri(), poll_seconds=0.2, drain_seconds=0.2, pool_size=8)


@pytest.fixture
async def harbour(postgres_url: str, settings: Settings, docks: Bucket) -> AsyncIterator[Harbour]:
    async with opened_harbour(postgres_url, settings, docks, await Lanes.dug(docks.folder)) as harbour:
        yield harbour


async def test_every_content_becomes_one_result_whatever_the_event_queue_brings(harbour: Harbour) -> None:
    bucket, events = harbour.bucket, harbour.lanes.events
    names = {"one.txt": b"one", "with space + plus.txt": b"two", "déjà/vu.txt": b"three"}
    notices = []
    for name, data in names.items():
        await bucket.put(name, data)
        notices.append(bucket.notice(name, data))
    newer, older = b"newer", b"older"
    await bucket.put("twice.txt", newer)
    notices += [bucket.notice("twice.txt", newer, sequencer="0A2"), bucket.notice("twice.txt", older, sequencer="0A1")]
    test_event = json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent", "Bucket": bucket.name})
    elsewhere = bucket.notice("one.txt", b"one").replace(f"{bucket.folder}/in", "elsewhere")
    removed = bucket.notice("one.txt", b"one").replace("ObjectCreated:Put", "ObjectRemoved:Delete")
    await events.send([*notices, *notices, "no JSON", '{"a": "stranger"}', test_event, elsewhere, removed])
    async with harbour.orchestrating(), harbour.node():
        found = await harbour.until(len(names) + 1)
        await eventually(lambda: _is_empty(harbour))
        assert len(await harbour.tasks()) == len(names) + 1
    assert {one.status for one in found} == {"COMPLETED"}
    assert {one.last.worker_id for one in found if one.last} == {"tug"}
    for name, data in {**names, "twice.txt": newer}.items():
        assert await bucket.get(f"{name}.json") == data.upper()
    await eventually(lambda: _nothing_left(bucket))


async def _nothing_left(bucket: Bucket) -> bool:
    return await bucket.keys("towpath/") == []


async def test_what_attempts_leave_behind_that_were_given_up_is_removed(harbour: Harbour) -> None:
    bucket, lanes = harbour.bucket, harbour.lanes
    await bucket.put("one.txt", b"one")
    await lanes.events.send([bucket.notice("one.txt", b"one")])
    async with harbour.orchestrating(), httpx.AsyncClient() as client:
        [message] = await lanes.work.receive(1, wait_seconds=20)
        frozen = read_task(message.body)
        await lanes.work.delete([message])
        assert (await client.put(frozen.put_url, content=b"early")).is_success
        await _lapse(harbour)
        async with harbour.node():
            [view] = await harbour.until(1)
        assert view.last is not None
        assert (view.status, view.last.attempt) == ("COMPLETED", 2)
        await eventually(lambda: _nothing_left(bucket))
        assert (await client.put(frozen.put_url, content=b"late")).is_success
        late = report(frozen, "frozen", 1, "COMPLETED", output={"size": 4, "sha256": "0" * 64})
        await lanes.status.send([late.model_dump_json(exclude_none=True)])
        await eventually(lambda: _nothing_left(bucket))
    assert await bucket.get("one.txt.json") == b"ONE"


async def _is_empty(harbour: Harbour) -> bool:
    counts = await harbour.lanes.events.counts()
    return counts.waiting + counts.in_hand == 0


async def test_what_no_notice_told_of_is_found_by_listing(postgres_url: str, settings: Settings, docks: Bucket) -> None:
    lanes = await Lanes.dug(docks.folder)
    for number in range(3):
        await docks.put(f"{number}.txt", b"unsung %d" % number)
    async with opened_harbour(postgres_url, settings, docks, lanes, sweep=0.2) as harbour:
        await lanes.events.send([docks.notice("0.txt", b"unsung 0")])
        async with harbour.orchestrating(), harbour.node():
            found = await harbour.until(3)
            await docks.put("1.txt", b"changed")
            await harbour.until(4)
    assert sorted(one.task.name for one in found) == ["0.txt", "1.txt", "2.txt"]
    assert await docks.get("1.txt.json") == b"CHANGED"


async def test_a_cancelled_worker_reads_it_from_the_object_store(
    postgres_url: str, settings: Settings, docks: Bucket
) -> None:
    lanes = await Lanes.dug(docks.folder)
    async with opened_harbour(postgres_url, settings, docks, lanes, wanted=Wanted(DAWDLE)) as harbour:
        await docks.put("long.txt", b"long")
        await lanes.events.send([docks.notice("long.txt", b"long")])
        async with harbour.orchestrating(), harbour.node() as node:
            [view] = await harbour.until(1, ("IN-PROGRESS",))
            await moving.cancel(harbour.app, view.task, "a test")
            await eventually(lambda: node.busy == 0)
            [view] = await harbour.tasks()
            assert view.status == "CANCELLED"


async def test_a_task_whose_urls_end_in_the_queue_is_sent_with_fresh_ones(
    postgres_url: str, settings: Settings, docks: Bucket
) -> None:
    lanes = await Lanes.dug(docks.folder)
    short = replace(settings, fleet_url_seconds=1.0)
    async with opened_harbour(postgres_url, short, docks, lanes) as harbour:
        await docks.put("slow.txt", b"slow")
        await lanes.events.send([docks.notice("slow.txt", b"slow")])
        async with harbour.orchestrating():
            [view] = await harbour.until(1, ("QUEUED",))
            await eventually(lambda: _has_ended(harbour, view.task.id))
            harbour.app.settings = replace(short, fleet_url_seconds=60.0)
            async with harbour.node():
                [view] = await harbour.until(1)
    assert (view.status, view.retries) == ("COMPLETED", 0)
    assert view.last is not None
    assert view.last.attempt == 2


async def _has_ended(harbour: Harbour, task_id: str) -> bool:
    sent = await stored.newest(harbour.app, task_id)
    assert sent is not None
    return sent.urls_until is not None and await harbour.app.now() > sent.urls_until


async def test_urls_that_end_while_a_worker_works_are_made_anew(
    postgres_url: str, settings: Settings, docks: Bucket
) -> None:
    from tests.products.fleet.operations import let_go

    lanes = await Lanes.dug(docks.folder)
    short = replace(settings, fleet_url_seconds=2.0)
    async with opened_harbour(postgres_url, short, docks, lanes, wanted=Wanted(DAWDLE)) as harbour:
        await docks.put("long.txt", b"long")
        await lanes.events.send([docks.notice("long.txt", b"long")])
        async with harbour.orchestrating(), harbour.node(heartbeat_seconds=0.5):
            [view] = await harbour.until(1, ("IN-PROGRESS",))
            assert view.last is not None
            first = view.last.urls_until
            assert first is not None
            await eventually(lambda: _is_later(harbour, view.task.id, first))
            let_go(view.task.id)
            [view] = await harbour.until(1)
    assert (view.status, view.retries) == ("COMPLETED", 0)
    assert await docks.get("long.txt.json") == b"at last"


async def _is_later(harbour: Harbour, task_id: str, first: object) -> bool:
    sent = await stored.newest(harbour.app, task_id)
    assert sent is not None
    return await harbour.app.now() > first and sent.urls_until is not None and sent.urls_until > first  # type: ignore[operator]


async def test_a_broker_that_loses_everything_costs_time_and_no_attempt(
    postgres_url: str, settings: Settings, docks: Bucket, sqs_server: SqsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for who in ("orchestrating", "node.node"):
        monkeypatch.setattr(f"towpath.fleet.{who}._AWAY", 0.2)
    lanes = await Lanes.dug(docks.folder)
    async with opened_harbour(postgres_url, settings, docks, lanes) as harbour:
        await docks.put("one.txt", b"one")
        await lanes.events.send([docks.notice("one.txt", b"one")])
        async with harbour.orchestrating():
            [view] = await harbour.until(1, ("QUEUED",))
            await eventually(lambda: _was_sent(harbour, view.task.id))
            sqs_server.kill()
            sqs_server.start()
            again = await Lanes.dug(docks.folder)  # of the same names, and empty
            assert again.work.url == lanes.work.url
            again.close()
            async with harbour.node():
                await _lapse(harbour)
                [view] = await harbour.until(1)
    assert view.status == "COMPLETED"
    assert view.last is not None
    assert view.last.attempt == 2


async def _was_sent(harbour: Harbour, task_id: str) -> bool:
    sent = await stored.newest(harbour.app, task_id)
    return sent is not None and sent.sent_at is not None


async def _lapse(harbour: Harbour) -> None:
    from towpath import Transaction

    async def unit(tx: Transaction) -> None:
        await tx.execute("UPDATE towpath.fleet_dispatch SET lease_until = to_timestamp(1)")

    await harbour.app.transact(unit)
    await harbour.recover()


async def test_failures_are_told_through_the_queue_with_their_category(
    postgres_url: str, settings: Settings, docks: Bucket
) -> None:
    lanes = await Lanes.dug(docks.folder)
    wanted = Wanted(STUMBLE, {"how": "fatal", "times": 9})
    async with opened_harbour(postgres_url, settings, docks, lanes, wanted=wanted) as harbour:
        await docks.put("one.txt", b"one")
        await lanes.events.send([docks.notice("one.txt", b"one")])
        await lanes.status.send(["no JSON", '{"kind": "task"}', '{"kind": "worker", "worker_id": "a stranger"}'])
        async with harbour.orchestrating(), harbour.node():
            [view] = await harbour.until(1)
        workers = await harbour.app.query("fleet_slots", since=(await harbour.app.now()).replace(year=2000))
    assert (view.status, view.error and view.error["message"]) == ("FAILED", "it stumbled")
    assert workers[0]["slots"] == 1


async def test_a_bucket_that_sends_its_own_notices_feeds_the_fleet(
    postgres_url: str, settings: Settings, sqs_server: SqsServer, sqs_env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its S3 sends events to its SQS by itself, as Amazon's does. For signed URLs it knows no other key than this."""
    del sqs_env
    for setting in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(setting, "test")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    lanes = await Lanes.dug(f"told-{next(_numbers)}")
    client = boto3.client("s3")
    name = f"told-{next(_numbers)}"
    arn = (await lanes.events.attributes("QueueArn"))["QueueArn"]
    await asyncio.to_thread(client.create_bucket, Bucket=name)
    told = {"QueueConfigurations": [{"QueueArn": arn, "Events": ["s3:ObjectCreated:*"]}]}
    await asyncio.to_thread(client.put_bucket_notification_configuration, Bucket=name, NotificationConfiguration=told)
    bucket = Bucket(sqs_server.endpoint, name, "f")
    async with opened_harbour(postgres_url, settings, bucket, lanes) as harbour:
        await bucket.put("by itself.txt", b"by itself")
        async with harbour.orchestrating(), harbour.node():
            [view] = await harbour.until(1)
    assert (view.status, view.task.operation) == ("COMPLETED", SHOUT)
    assert await bucket.get("by itself.txt.json") == b"BY ITSELF"


@on_sqlite
async def test_notices_may_come_to_a_server(yard: Yard, docks: Bucket) -> None:
    told = json.loads(docks.notice("a.txt", b"one"))
    problem(await yard.ann.post("/api/fleet/events", json=told), 409, "conflict")
    await remember(yard.app, Intake(docks.place, docks.output, "", Wanted(), "north"))
    await docks.put("a.txt", b"one")
    told["Records"] = [*told["Records"] * 2, {"eventName": "ObjectRemoved:Delete"}]
    assert ok(await yard.ann.post("/api/fleet/events", json=told)) == {"taken": 1, "known": 1, "ignored": 1}
    problem(await yard.ann.post("/api/fleet/events", json={"what": "is this"}), 422, "invalid")
    assert (await yard.nobody.post("/api/fleet/events", json=told)).status_code == 401
    gone = json.loads(docks.notice("never.txt", b"never"))
    assert ok(await yard.ann.post("/api/fleet/events", json=gone))["ignored"] == 1
    [task] = ok(await yard.ann.get("/api/fleet/tasks"))["items"]
    assert (task["name"], task["source"], task["status"]) == ("a.txt", docks.place.bucket, "PENDING")

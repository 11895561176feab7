"""A fleet with a real object store and real queues: orchestrators in this process, and workers that have two queues."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import boto3

from tests.engine.working import working
from tests.products.fleet.operations import SHOUT
from towpath import App, Settings, fleet
from towpath.brokers.sqs import SqsQueue
from towpath.fleet import stored
from towpath.fleet.arrivals import Intake
from towpath.fleet.intake import Wanted
from towpath.fleet.names import CARE_QUEUE, QUEUES
from towpath.fleet.node.node import Node
from towpath.fleet.node.over_queues import OverQueues
from towpath.fleet.orchestrating import orchestrate_with
from towpath.fleet.recovering import Recovering
from towpath.fleet.storage import Place
from towpath.fleet.views import TaskView, views

PROGRAM = [sys.executable, "-c", "from towpath.cli import main; main()"]
"""The `towpath` command."""
ENDED = ("COMPLETED", "FAILED", "CANCELLED")


@dataclass
class Lanes:
    """The three queues."""

    events: SqsQueue
    work: SqsQueue
    status: SqsQueue

    @classmethod
    async def dug(cls, name: str) -> Lanes:
        made = [await SqsQueue.create(f"{name}-{what}", {"VisibilityTimeout": "5"}) for what in ("events", "work", "status")]
        return cls(*made)

    def close(self) -> None:
        for queue in (self.events, self.work, self.status):
            queue.close()


class Bucket:
    """A folder of a bucket, for people who put things there."""

    def __init__(self, endpoint: str, bucket: str, folder: str) -> None:
        self.endpoint, self.name, self.folder = endpoint, bucket, folder
        self._client: Any = boto3.Session("towpath", "not-so-secret", region_name="us-east-1").client(
            "s3", endpoint_url=endpoint
        )
        self.place = Place(f"s3://{bucket}", f"{folder}/in/")
        self.output = Place(f"s3://{bucket}", f"{folder}/out/")

    async def put(self, name: str, data: bytes) -> str:
        """Answers its ETag."""
        told = await asyncio.to_thread(self._client.put_object, Bucket=self.name, Key=self.place.key(name), Body=data)
        return str(told["ETag"]).strip('"')

    async def get(self, name: str) -> bytes:
        told = await asyncio.to_thread(self._client.get_object, Bucket=self.name, Key=self.output.key(name))
        return bytes(told["Body"].read())

    async def keys(self, below: str = "") -> list[str]:
        told = await asyncio.to_thread(self._client.list_objects_v2, Bucket=self.name, Prefix=below)
        return [one["Key"] for one in told.get("Contents", ())]

    def notice(self, name: str, data: bytes, *, sequencer: str = "", etag: str | None = None) -> str:
        """What S3 sends."""
        from urllib.parse import quote_plus

        key = quote_plus(self.place.key(name), safe="/")
        told = {"key": key, "size": len(data), "eTag": etag or hashlib.md5(data, usedforsecurity=False).hexdigest()}
        if sequencer:
            told["sequencer"] = sequencer
        record = {
            "eventVersion": "2.1", "eventSource": "aws:s3", "eventName": "ObjectCreated:Put",
            "s3": {"bucket": {"name": self.name}, "object": told},
        }  # fmt: skip
        return json.dumps({"Records": [record]})


class Harbour:
    def __init__(self, app: App, bucket: Bucket, lanes: Lanes, intake: Intake) -> None:
        self.app, self.bucket, self.lanes, self.intake = app, bucket, lanes, intake

    def orchestrating(self, concurrency: int = 8) -> AbstractAsyncContextManager[asyncio.Task[None]]:
        return working(self.app, *QUEUES, CARE_QUEUE, concurrency=concurrency)

    @asynccontextmanager
    async def node(self, name: str = "tug", **more: Any) -> AsyncIterator[Node]:
        channel = OverQueues(self.lanes.work.url, self.lanes.status.url)
        options = {"asks_for": 1.0, "drain_seconds": 0.0, "heartbeat_seconds": 0.2} | more
        node = Node(channel, name, name=name, **options)
        running = asyncio.create_task(node.run())
        try:
            yield node
        finally:
            node.stop()
            await asyncio.wait_for(running, 30)

    async def tasks(self) -> list[TaskView]:
        return await views(self.app, list(reversed(await stored.page(self.app, None, before=None, limit=1000))))

    async def until(self, count: int, statuses: Sequence[str] = ENDED, within: float = 90.0) -> list[TaskView]:
        async with asyncio.timeout(within):
            while True:
                found = await self.tasks()
                if len(found) >= count and all(one.status in statuses and one.standing.retry_at is None for one in found):
                    return found
                await asyncio.sleep(0.05)  # asking costs more than waiting

    async def recover(self) -> int:
        return await Recovering(self.app).recover()


@asynccontextmanager
async def opened_harbour(
    url: str, settings: Settings, bucket: Bucket, lanes: Lanes, *, sweep: float = 0.0, wanted: Wanted | None = None
) -> AsyncIterator[Harbour]:
    app = App(url, settings=settings)
    fleet.attach(app)
    intake = Intake(bucket.place, bucket.output, lanes.work.url, wanted or Wanted(SHOUT), "north")
    orchestrate_with(app, intake, lanes.events.url, lanes.status.url, sweep)
    async with app:
        try:
            yield Harbour(app, bucket, lanes, intake)
        finally:
            from towpath.fleet.queues import Queues

            app.part(Queues).close()
            lanes.close()

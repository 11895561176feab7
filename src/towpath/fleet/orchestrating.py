"""What an orchestrator does beside its jobs: it listens to buckets and to workers. Each is a loop of the engine, and any
number of processes may run them: whatever they do is guarded in the database."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from datetime import timedelta

from towpath import App, Fatal, RateLimited, SchemaInvalid, Transaction, Transient
from towpath.brokers import Message
from towpath.brokers.sqs import SqsQueue
from towpath.fleet import arrivals, events, reporting, stored
from towpath.fleet.arrivals import Intake
from towpath.fleet.messages import StatusReport, WorkerReport, read_status
from towpath.fleet.minting import Minted
from towpath.fleet.names import HERE, control_key
from towpath.fleet.notices import remember
from towpath.fleet.queues import Queues
from towpath.fleet.storage import Storages, storage_of

log = logging.getLogger("towpath.fleet")

SWEEP_SECONDS = 300.0
VISIBILITY = 30
"""Seconds that others leave a message alone which we are at. If this process dies, it comes to them after that; whoever is
slower does what another has done, too, and nothing comes of it."""
_AWAY = 5.0
_SWEEP_LOOK = 10.0


def orchestrate_with(app: App, intake: Intake, events_url: str, status_url: str, sweep_seconds: float) -> None:
    """Before the app is opened. An address that is empty has no loop."""
    if events_url:
        app.loop("fleet-events", EventPoller(app, intake, events_url).turn)
    if status_url:
        app.loop("fleet-status", StatusPoller(app, status_url).turn)
    if sweep_seconds:
        app.loop("fleet-sweep", Sweeper(app, intake, sweep_seconds).turn)


class Poller:
    """Takes messages from a queue. One that has been dealt with is deleted; one that has not comes again."""

    def __init__(self, app: App, url: str) -> None:
        self._app, self._url, self._away = app, url, False

    async def turn(self) -> float:
        try:
            messages = await self._queue.receive(visibility_seconds=VISIBILITY)
        except (Transient, RateLimited, Fatal) as error:
            if not self._away:
                log.warning("the queue cannot be asked, and is tried every %g s: %s", _AWAY, error)
            self._away = True
            return _AWAY
        self._away = False
        done = await asyncio.gather(*(self._dealt_with(message) for message in messages))
        if finished := [message for message, is_done in zip(messages, done, strict=True) if is_done]:
            await self._delete(finished)
        return 0.0

    @property
    def _queue(self) -> SqsQueue:
        return self._app.part(Queues).of(self._url)

    async def _dealt_with(self, message: Message) -> bool:
        """A message that makes no sense never will: it is logged and gone. Whatever else goes wrong may pass."""
        try:
            await self.take(message.body)
        except SchemaInvalid as error:
            log.warning("dropped message %s: %s", message.id, error)
        except Exception:
            log.exception("message %s could not be dealt with, and comes again", message.id)
            return False
        return True

    async def _delete(self, messages: Sequence[Message]) -> None:
        try:
            await self._queue.delete(messages)
        except (Transient, RateLimited, Fatal) as error:
            log.warning("%d messages come again, because they could not be deleted: %s", len(messages), error)

    async def take(self, body: str) -> None:
        raise NotImplementedError


class EventPoller(Poller):
    """Objects that have come."""

    def __init__(self, app: App, intake: Intake, url: str) -> None:
        super().__init__(app, url)
        self._intake = intake

    async def take(self, body: str) -> None:
        for found in events.read(body).created:
            await arrivals.take(self._app, self._intake, found)


class StatusPoller(Poller):
    """What workers say."""

    async def take(self, body: str) -> None:
        report = read_status(body)
        if isinstance(report, WorkerReport):
            await reporting.greet(self._app, report)
        else:
            await self._heard(report)

    async def _heard(self, report: StatusReport) -> None:
        heard = await reporting.take(self._app, report)
        if heard.urls is not None:
            await self._hand_over(report, heard.urls)

    async def _hand_over(self, report: StatusReport, urls: Minted) -> None:
        """Fresh URLs lie where the worker looks with each heartbeat."""
        task = await stored.task(self._app, report.task)
        if task.target != HERE:
            told = {"get_url": urls.get_url, "put_url": urls.put_url, "urls_until": urls.until}
            key = control_key(task.target, task.id, report.attempt)
            await storage_of(self._app, task.target).put(key, json.dumps(told).encode())


class Sweeper:
    """Lists the folder now and then: what no notice told of is found there."""

    def __init__(self, app: App, intake: Intake, every: float) -> None:
        self._app, self._intake, self._every = app, intake, every
        self._known = False

    async def turn(self) -> float:
        if not self._known:
            await remember(self._app, self._intake)
            self._known = True
        if await self._is_ours():
            found = await self.sweep()
            if found:
                log.info("found %d objects in %s that no notice told of", found, self._intake.input.bucket)
        return min(_SWEEP_LOOK, self._every)

    async def _is_ours(self) -> bool:
        at = self._intake

        async def unit(tx: Transaction) -> int:
            return await tx.change(
                "fleet_intake_sweep", bucket=at.input.bucket, folder=at.input.folder, tenant=at.tenant, now=tx.now,
                before=tx.now - timedelta(seconds=self._every),
            )  # fmt: skip

        return bool(await self._app.transact(unit))

    async def sweep(self) -> int:
        place, new = self._intake.input, 0
        bucket = self._app.part(Storages).bucket(place.bucket)
        async for page in bucket.list(place.folder, ""):
            rows = await self._app.query("fleet_objects_seen", source=place.bucket, keys=[one.key for one in page])
            known = {row["object_key"]: row["etag"] for row in rows}
            for one in page:
                if known.get(one.key) != one.etag and not one.key.endswith("/"):
                    told = events.Created(place.bucket.partition("://")[2], one.key, one.size, one.etag)
                    new += await arrivals.take(self._app, self._intake, told) == arrivals.TAKEN
        return new

"""Turns endings of jobs into deliveries: nothing lost, nothing doubled, whoever dies in between.

Every server process has a dispatcher. Each reads the stream of events from the same place, and whoever is first to move
that place on, in the very transaction that enqueues the deliveries, has dispatched what lies between; the others find
that the place has moved. While no webhook is active nobody reads.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from towpath.core.errors import StreamReset
from towpath.core.failpoints import reach
from towpath.core.records import Event, Job, NewJob
from towpath.engine.app import App
from towpath.engine.asking.deltas import Deltas, Page, Place
from towpath.engine.services import Services
from towpath.engine.tending.loops import Loop
from towpath.server.webhooks.messages import OPERATION, STATE_OF, of_ending
from towpath.server.webhooks.records import Webhook, webhook_from
from towpath.store.contract import Tx

log = logging.getLogger("towpath.webhooks")

_EVENTS = 1000
_DELIVERIES = 500
"""So many deliveries, or a few more, are enqueued in one transaction: a tenant may have many webhooks."""
_WITHIN = timedelta(days=3650)  # however long the servers were away: what is still there is delivered
_EVERY, _IDLE = 0.5, 2.0
_UNSAVED = 20_000
"""So many events without an ending that interests anybody are read again, at most, after a restart."""
_FORGET_EVERY = 1800  # turns
_FORGOTTEN = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Addressed:
    """An ending, a webhook that wants to hear of it, and the job that will tell it."""

    webhook: Webhook
    job: Job
    event: Event
    new: NewJob


class Dispatcher:
    """`start` and `stop` it, or call `turn` yourself."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._loop = Loop("webhooks", self.turn)
        self._deltas: Deltas | None = None
        self._saved: str | None = None
        self._place: Place | None = None
        self._unsaved = 0
        self._turns = 0

    def start(self) -> None:
        self._loop.start()

    async def stop(self) -> None:
        await self._loop.stop()

    async def turn(self) -> float:
        """Reads on, and dispatches what it finds; answers in how many seconds it wants to be called again."""
        await self._forget()
        token = await self._app.services.store.read(_cursor)
        if token is None:
            return _IDLE
        place = await self._where(token)
        if place is None:
            return _EVERY
        page = await self._known().page(place, limit=_EVENTS)
        await reach("webhooks.read")
        deliveries, page = await self._deliveries(page)
        if not await self._dispatch(deliveries, page, token):
            return _EVERY  # somebody else was first
        return 0.0 if page.more else _EVERY

    def _known(self) -> Deltas:
        assert self._deltas is not None
        return self._deltas

    async def _where(self, token: str) -> Place | None:
        """Where to read on. What was read without finding anything is remembered here and not written each time."""
        if self._deltas is None:
            self._deltas = await Deltas.of(self._app.services.store)
        if token != self._saved or self._place is None:
            try:
                self._place, self._unsaved = await self._deltas.place(token, within=_WITHIN), 0
            except StreamReset as reset:
                await self._start_anew(token, reset.reason)
                return None
            self._saved = token
        return self._place

    async def _start_anew(self, token: str, reason: str) -> None:
        fresh = self._known().token(await self._known().now())
        log.warning("webhooks go on from now, because the place they had come to is %s here; was a backup restored?", reason)
        await self._app.services.store.run(partial(_move, expected=token, token=fresh, deliveries=[]))

    async def _dispatch(self, deliveries: Sequence[Addressed], page: Page, token: str) -> bool:
        self._unsaved += len(page.events)
        if deliveries or self._unsaved >= _UNSAVED:
            fresh = self._known().token(page.end)
            if not await self._app.services.store.run(partial(_move, expected=token, token=fresh, deliveries=deliveries)):
                self._place = None
                return False
            self._saved, self._unsaved = fresh, 0
        self._place = page.end
        return True

    async def _deliveries(self, page: Page) -> tuple[list[Addressed], Page]:
        """Who wants to hear of which ending, and the page as far as that goes: it ends where they become too many at once.
        Webhooks are looked up only after the events were read: one that is not there by now was made after they
        happened."""
        endings = [event for event in page.events if event.name in STATE_OF]
        found: list[Addressed] = []
        if endings:
            ids = sorted({event.job_id for event in endings})
            jobs, webhooks = await self._app.services.store.read(partial(_look_up, ids=ids))
            for event in endings:
                job = jobs.get(event.job_id)
                found += [] if job is None else self._addressed(job, event, webhooks.get(job.tenant, ()))
                if len(found) >= _DELIVERIES and event is not page.events[-1]:
                    return found, replace(page, end=page.place_after(event), more=True)
        return found, page

    def _addressed(self, job: Job, event: Event, webhooks: Sequence[Webhook]) -> list[Addressed]:
        at = event.ts
        return [
            Addressed(webhook, job, event, new_delivery(self._app.services, webhook, job, event))
            for webhook in webhooks
            if at is not None and webhook.wants(job.tenant, job.operation, STATE_OF[event.name], at)
        ]

    async def _forget(self) -> None:
        self._turns += 1
        if self._turns % _FORGET_EVERY == 0:
            await self._app.services.store.run(
                lambda tx: tx.execute("webhook_deliveries_forget", before=tx.now - _FORGOTTEN, limit=1000)
            )


def dispatcher(app: App) -> Dispatcher:
    """For servers; the app is opened by somebody else, and stays open until the dispatcher is stopped."""
    return Dispatcher(app)


def new_delivery(services: Services, webhook: Webhook, job: Job, event: Event) -> NewJob:
    key = f"{webhook.id} {job.id} {event.seq}"
    return services.new_job(OPERATION, of_ending(webhook, job, event), tenant=webhook.tenant, key=key, trace=job.trace)


async def _cursor(tx: Tx) -> str | None:
    """The place that has been come to; None while no webhook is active."""
    if not await tx.fetch("webhook_any_active"):
        return None
    token: str | None = (await tx.fetch("webhook_cursor"))[0]["token"]
    return token


async def _look_up(tx: Tx, ids: list[str]) -> tuple[dict[str, Job], dict[str, list[Webhook]]]:
    """The jobs, and the webhooks of their tenants. Deliveries are jobs too, and nobody is told of their endings."""
    jobs = {job.id: job for job in await tx.jobs("jobs_by_id", ids=ids) if job.operation != OPERATION}
    webhooks: dict[str, list[Webhook]] = {}
    for row in await tx.fetch("webhooks_active", tenants=sorted({job.tenant for job in jobs.values()})) if jobs else ():
        webhooks.setdefault(row["tenant"], []).append(webhook_from(row))
    return jobs, webhooks


async def _move(tx: Tx, expected: str, token: str, deliveries: Sequence[Addressed]) -> bool:
    """The deliveries and the place behind them, or neither. False if the place is not where it was any more."""
    rows = await tx.fetch("webhook_cursor_try")
    if not rows or rows[0]["token"] != expected:
        return False
    made = await tx.insert_jobs([one.new for one in deliveries]) if deliveries else []
    for one, enqueued in zip(deliveries, made, strict=True):
        if enqueued.created:
            told = {"webhook_id": one.webhook.id, "id": one.new.id, "job_id": one.job.id, "event": one.event.name}
            await tx.execute("webhook_delivery_add", **told, now=tx.now)
    await tx.execute("webhook_cursor_move", token=token)
    await reach("webhooks.moved")
    return True

"""Attempts whose worker is not heard of any more are given up: a loop of every worker process, and each row is guarded.

The same loop says how many tasks may be under way: about twice as many as workers have slots, so that the order in which
tasks are sent is fair to the last and a queue holds few of them.
"""

from __future__ import annotations

import logging
import math
from datetime import datetime, timedelta
from typing import Any

from towpath import App, Row, TowpathError, Transaction, moment
from towpath.fleet.names import CARE_LANE, KIND, QUEUES, WORKER, ended
from towpath.fleet.sending import lost

log = logging.getLogger("towpath.fleet")
EVERY = 5.0
ALIVE = timedelta(minutes=2)
"""A worker that was heard of no longer ago counts as there."""
_TOGETHER = 100
_LEAST = 4
_LONG_AGO = datetime.fromtimestamp(0).astimezone()


class Recovering:
    def __init__(self, app: App) -> None:
        self._app = app

    async def turn(self) -> float:
        await self.recover()
        await self.notice_silence()
        await self.make_room()
        return EVERY

    async def recover(self) -> int:
        """Page by page, so that a row that cannot be given up does not hide those behind it."""
        given_up, after, after_id = 0, _LONG_AGO, ""
        while True:
            rows = await self._overdue(after, after_id)
            for row in rows:
                try:
                    given_up += await self._give_up(row)
                except TowpathError:
                    log.exception("task %s could not be given up, and is tried again", row["task_id"])
            if len(rows) < _TOGETHER:
                return given_up
            after, after_id = moment(rows[-1]["lease_until"]), rows[-1]["task_id"]

    async def _overdue(self, after: datetime, after_id: str) -> list[Row]:
        now = await self._app.now()
        return list(
            await self._app.query("fleet_dispatches_overdue", now=now, after=after, after_id=after_id, limit=_TOGETHER)
        )

    async def _give_up(self, row: Row) -> int:
        taken = row["claimed_at"] is not None

        async def unit(tx: Transaction) -> int:
            await tx.signal_many([(row["job_id"], ended(row["attempt"]), None)])
            changed = await tx.change(
                "fleet_dispatch_lost", task_id=row["task_id"], attempt=row["attempt"], now=tx.now,
                report=lost(row["worker_id"], taken=taken),
            )  # fmt: skip
            if not changed:
                raise _HeardAfterAll
            await tx.tell(KIND, row["task_id"], tenant=row["tenant"])
            if taken:
                await tx.tell(WORKER, row["worker_id"])
            return changed

        try:
            changed = await self._app.transact(unit)
        except _HeardAfterAll:
            return 0
        log.warning("gave up task %s, attempt %d: %s", row["task_id"], row["attempt"], "silence" if taken else "not taken")
        return changed

    async def notice_silence(self) -> None:
        """Whoever watches is told once of a worker that is not heard of any more; by one process, whoever is first."""
        since = await self._app.now() - ALIVE
        silent = [row["id"] for row in await self._app.query("fleet_workers_silent", since=since, limit=_TOGETHER)]

        async def unit(tx: Transaction) -> None:
            await tx.tell(WORKER, *[one for one in silent if await tx.change("fleet_worker_went", id=one, since=since)])

        if silent:
            await self._app.transact(unit)

    async def make_room(self) -> None:
        """Twice the slots, divided among the lanes that have tasks under way. A cap that somebody has set by hand stays; a
        lane whose cap was taken away again is seen to from then on."""
        app = self._app
        since = await app.now() - ALIVE
        slots = (await app.query("fleet_slots", since=since))[0]["slots"]
        lanes = await app.query("fleet_lanes", queues=list(QUEUES), care=CARE_LANE)
        active = {row["tenant"] for row in await app.query("fleet_open_lanes")}
        most = room_of(slots, len(active))
        for row in lanes:
            if row["max_roots"] != most:
                await _set_room(app, row["queue"], row["lane"], row["weight"], most)


async def _set_room(app: App, queue: str, lane: str, weight: float, most: int) -> None:
    """A weight that was set by hand stays. What is set is noted, to be told from what others set."""

    async def noted(tx: Any, _: None) -> None:
        await tx.execute("fleet_room_put", queue=queue, lane=lane, max_roots=most)

    await app.queues.lane(queue, lane, weight=weight, max_roots=most, also=noted)


def room_of(slots: int, lanes: int) -> int:
    """How many tasks of one lane may be open."""
    return max(_LEAST, math.ceil(2 * slots / max(1, lanes)))


class _HeardAfterAll(Exception):
    """The worker has been heard of meanwhile: nothing of the transaction counts."""


async def ensure_lane(app: App, queue: str, tenant: str) -> None:
    """Before a task of a tenant: so that the first ones do not all go out before the loop has looked. What is set stays."""
    known = await app.query("fleet_lane_known", queue=queue, lane=tenant)
    if not known:
        await _set_room(app, queue, tenant, 1.0, _LEAST)
    elif known[0]["max_slots"] is None and known[0]["max_roots"] is None:
        await _set_room(app, queue, tenant, known[0]["weight"], _LEAST)

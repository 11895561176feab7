"""Attempts whose worker is not heard of any more are given up: a loop of every worker process, and each row is guarded.

The same loop says how many tasks may be under way: about twice as many as workers have slots, so that the order in which
tasks are sent is fair to the last and a queue holds few of them.
"""

from __future__ import annotations

import logging
import math
from datetime import datetime, timedelta

from towpath import App, Row, TowpathError, Transaction, moment
from towpath.fleet.names import KIND, QUEUES, ended
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
            return changed

        try:
            changed = await self._app.transact(unit)
        except _HeardAfterAll:
            return 0
        log.warning("gave up task %s, attempt %d: %s", row["task_id"], row["attempt"], "silence" if taken else "not taken")
        return changed

    async def make_room(self) -> None:
        """Twice the slots, divided among the lanes that have tasks under way; what others are allowed stays as it was."""
        app = self._app
        since = await app.now() - ALIVE
        slots = (await app.query("fleet_slots", since=since))[0]["slots"]
        lanes = await app.query("fleet_lanes", queues=list(QUEUES))
        active = {row["tenant"] for row in await app.query("fleet_open_lanes")}
        most = room_of(slots, len(active))
        for row in lanes:
            if row["max_roots"] != most:
                await app.queues.lane(row["queue"], row["lane"], max_roots=most)


def room_of(slots: int, lanes: int) -> int:
    """How many tasks of one lane may be open."""
    return max(_LEAST, math.ceil(2 * slots / max(1, lanes)))


class _HeardAfterAll(Exception):
    """The worker has been heard of meanwhile: nothing of the transaction counts."""


async def ensure_lane(app: App, queue: str, tenant: str) -> None:
    """Before the first task of a tenant; what the loop has set since stays."""
    if not await app.query("fleet_lane_known", queue=queue, lane=tenant):
        await app.queues.lane(queue, tenant, max_roots=_LEAST)

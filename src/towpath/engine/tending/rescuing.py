"""Rescues jobs whose worker has gone silent, and nobody else's."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from towpath.core import transitions
from towpath.core.failpoints import reach
from towpath.core.ids import FIRST_ID
from towpath.core.lifecycle import State
from towpath.core.transitions import Transition
from towpath.engine.asking.liveness import furthest_lease, lease_seconds
from towpath.engine.services import Services
from towpath.engine.tending.process import is_gone
from towpath.engine.tending.settling import one_by_one_if_needed
from towpath.engine.tending.vigil import Vigil
from towpath.store.contract import Row, Tx

log = logging.getLogger("towpath.janitor")

_PAGE = 200
_MOST_SECONDS, _LEAST_SECONDS = 5.0, 0.02


@dataclass(slots=True)
class Page:
    """Leases that have run out, or will soon, or that end later than any lease can."""

    now: datetime
    beyond: datetime
    rows: Sequence[Row] = field(default_factory=list)


async def rescue(services: Services) -> int:
    """Whatever has run out by now, page by page, so that one bad row cannot hide the others. It takes for granted that every
    worker could have renewed its leases; a janitor makes sure of that first, with `Rescuer`."""
    return await _each_page(services, 0.0, _ran_out)


def _ran_out(page: Page) -> list[Row]:
    return [row for row in page.rows if row["lease_until"] < page.now]


class Rescuer:
    """A janitor's part of it: it waits until others have had their chance, and no longer than for the next lease to end."""

    def __init__(self, services: Services, vigil: Vigil | None = None) -> None:
        self._services = services
        self._lease = services.settings.lease_seconds
        self._interval = min(_MOST_SECONDS, max(_LEAST_SECONDS, self._lease / 6))
        self._vigil = vigil or Vigil(self._lease)
        self._gone: dict[str, bool] = {}
        self._wait = self._interval

    async def turn(self) -> float:
        """One round; answers how long to wait for the next."""
        self._wait = self._interval
        self._gone.clear()
        await _each_page(self._services, self._interval, self._choose)
        return max(_LEAST_SECONDS, self._wait)

    def _choose(self, page: Page) -> list[Row]:
        before = self._vigil.seconds
        if not self._vigil.look(page.now) and before > 0:
            log.warning("nobody could renew a lease for a while; nothing is rescued before everybody had time to")
        return [row for row in page.rows if self._may_go(row, page)]

    def _may_go(self, row: Row, page: Page) -> bool:
        left = (row["lease_until"] - page.now).total_seconds()
        if left >= 0 and row["lease_until"] <= page.beyond:
            self._wait = min(self._wait, left)
            return False
        if row["stopped_at"] is not None or self._is_gone(row["process"]):
            return True
        missing = self._lease_of(row) - self._vigil.seconds
        if missing > 0:
            self._wait = min(self._wait, missing)
        return missing <= 0

    def _is_gone(self, process: str | None) -> bool:
        """Asked once a round: a dead worker may have left thousands of jobs."""
        if process is None:
            return False
        if process not in self._gone:
            self._gone[process] = is_gone(process)
        return self._gone[process]

    def _lease_of(self, row: Row) -> float:
        """As its worker gives them, which may have other settings than this one."""
        return max(self._lease, lease_seconds(row, self._lease))


async def _each_page(services: Services, ahead: float, choose: Callable[[Page], list[Row]]) -> int:
    after, total = FIRST_ID, 0
    while True:
        page = await services.store.read(partial(read_page, lease=services.settings.lease_seconds, ahead=ahead, after=after))
        chosen = choose(page)
        if chosen:
            await reach("rescue.selected")
        total += await one_by_one_if_needed(services, [_rescue_of(row, page) for row in chosen])
        if len(page.rows) < _PAGE:
            return total
        after = str(page.rows[-1]["id"])


async def read_page(tx: Tx, *, lease: float, ahead: float, after: str) -> Page:
    beyond = await furthest_lease(tx, lease) or tx.now
    soon = tx.now + timedelta(seconds=ahead)
    return Page(tx.now, beyond, await tx.fetch("ending_leases", soon=soon, beyond=beyond, after=after, limit=_PAGE))


def _rescue_of(row: Row, page: Page) -> Transition:
    if row["state"] == State.RUNNING:
        return transitions.rescue(str(row["id"]), row["attempt"], page.beyond)
    return transitions.handler_ended(str(row["id"]), row["attempt"])  # cancelled or requeued: only the lease is left

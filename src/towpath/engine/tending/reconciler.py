"""Polls what is under way at providers, and wakes the jobs whose orders have all ended.

Any number of reconcilers may run: a row that is taken is nobody else's for a while, and what a slow one writes after that
counts no more. A cycle costs as much as is due, however much waits.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from towpath.core import transitions
from towpath.core.errors import OperationError, StoreUnavailable, Transient
from towpath.core.failpoints import reach
from towpath.core.ids import FIRST_ID
from towpath.core.provider_jobs import ProviderJob
from towpath.engine.polling import polling_of
from towpath.engine.providers import order_of
from towpath.engine.services import Services
from towpath.engine.tending.judging import judge
from towpath.engine.tending.settling import one_by_one_if_needed
from towpath.providers import Answer
from towpath.store import provider_journal
from towpath.store.contract import Tx

log = logging.getLogger("towpath.reconciler")

_PAGE = 100
_AT_ONCE = 20
_LONGEST_SLEEP = 1.0
_SHORTEST_SLEEP = 0.02


class Reconciler:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._polling = polling_of(services.settings)
        self._doors = asyncio.Semaphore(_AT_ONCE)

    async def turn(self) -> float:
        """Everything that is due; answers when to come back, in seconds."""
        if not self._services.providers.names:
            return 60.0
        while await self.poll_due() == _PAGE:
            pass
        return await self._services.store.read(self._until_next)

    async def poll_due(self) -> int:
        """One page of what is due; answers how many jobs it looked at."""
        services = self._services
        # A call may take its whole time, and so may waiting for a free connection before it.
        lease = 2 * services.settings.provider_call_seconds + 10
        names = services.providers.names
        taken = await services.store.run(partial(provider_journal.take_due, providers=names, limit=_PAGE, seconds=lease))
        if taken:
            await reach("poll.taken")
        await asyncio.gather(*(self._poll(row) for row in taken))
        return len(taken)

    async def _poll(self, row: ProviderJob) -> None:
        async with self._doors:
            look = await self._look(row)
        await reach("poll.answered")
        try:
            await self._record(row, look)
        except StoreUnavailable:
            raise
        except Exception:
            log.exception("what %s said of %s could not be written; it is asked again", row.provider, row.external_id)
            await self._record(row, Transient(f"what {row.provider} said of it could not be written; the log has why"))

    async def _record(self, row: ProviderJob, look: Answer | Exception) -> None:
        async def unit(tx: Tx) -> bool:
            return await provider_journal.record_poll(tx, row, judge(row, look, tx.now, self._polling))

        if not await self._services.store.run(unit):
            log.info("the look at %s of %s came too late to count", row.external_id, row.provider)

    async def _look(self, row: ProviderJob) -> Answer | Exception:
        services = self._services
        assert row.external_id is not None
        try:
            provider = services.providers.get(row.provider)
            order = await order_of(services.values, row)
            async with asyncio.timeout(services.settings.provider_call_seconds):
                return await provider.poll(order, row.prepared, row.external_id)
        except TimeoutError:
            return Transient(f"{row.provider} did not answer within {services.settings.provider_call_seconds:g} s")
        except OperationError as error:
            return error
        except Exception as error:  # an adapter's mistake must not stop the others
            log.exception("the adapter of %s failed", row.provider)
            return error

    async def _until_next(self, tx: Tx) -> float:
        moment = await provider_journal.due_next(tx, self._services.providers.names)
        if moment is None:
            return _LONGEST_SLEEP
        return min(_LONGEST_SLEEP, max(_SHORTEST_SLEEP, (moment - tx.now).total_seconds()))


async def wake_forsaken(services: Services) -> int:
    """Jobs that wait for providers although nothing of theirs is under way go on, and see for themselves."""
    after, woken = FIRST_ID, 0
    while True:
        ids = await services.store.read(partial(provider_journal.forsaken, after=after, limit=_PAGE))
        woken += await one_by_one_if_needed(services, [transitions.resume(job_id, "provider") for job_id in ids])
        if len(ids) < _PAGE:
            return woken
        after = ids[-1]

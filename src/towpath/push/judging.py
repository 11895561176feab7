"""Whether those who listen still may. One glance at the database for all streams of the process, every second: who was
revoked, by whichever process, hears nothing more. Only for whom something has changed is it asked closely."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from towpath.core.errors import StoreUnavailable
from towpath.push.ending import Ending
from towpath.store.contract import Row, Store, Tx

log = logging.getLogger("towpath.push")

StillAllowed = Callable[[], Awaitable[bool]]
Grant = tuple[object, ...]


@dataclass(eq=False, slots=True)
class Watched:
    ending: Ending
    credential: str
    still_allowed: StillAllowed
    grant: Grant | None = None
    """What it hung on when it was looked at last; None: it has not been."""

    async def judge(self) -> None:
        try:
            if not await self.still_allowed():
                self.ending.call("revoked")
        except StoreUnavailable:
            pass  # nothing can have been changed meanwhile either
        except Exception:
            log.exception("it could not be found out whether a stream may go on, so it ends")
            self.ending.call("revoked")


class Judge:
    def __init__(self, store: Store, every: float) -> None:
        self._store, self._every = store, every
        self._watched: set[Watched] = set()
        self._asked = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def watch(self, ending: Ending, credential: str, still_allowed: StillAllowed) -> Watched:
        """Until `forget`, which whoever calls this calls."""
        one = Watched(ending, credential, still_allowed)
        self._watched.add(one)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="towpath-push-judge")
        return one

    def forget(self, one: Watched) -> None:
        self._watched.discard(one)
        if not self._watched and self._task is not None:
            self._task.cancel()
            self._task = None

    def look_now(self) -> None:
        """For whoever has just revoked something in this process."""
        self._asked.set()

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every):
                    await self._asked.wait()
            self._asked.clear()
            try:
                await self._look()
            except StoreUnavailable:
                pass  # as above
            except Exception:
                log.exception("it could not be seen who may still listen; each is asked by itself")

    async def _look(self) -> None:
        watched = list(self._watched)
        ids = sorted({one.credential for one in watched})
        rows = await self._store.read(lambda tx: _grants(tx, ids))
        found = {str(row["id"]): tuple(dict(row).values()) for row in rows}
        for one in watched:
            grant, before = found.get(one.credential), one.grant
            one.grant = grant
            if grant is None or grant != before:  # the first time, too: something may have changed since it was let in
                await one.judge()


async def _grants(tx: Tx, ids: list[str]) -> list[Row]:
    return list(await tx.fetch("grants_of", ids=ids, now=tx.now))

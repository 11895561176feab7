"""What becomes of the batches: each is looked at again whenever an event tells of its job."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from towpath.batches import stored
from towpath.batches.views import BatchView, views
from towpath.engine.app import App

Tell = Callable[[BatchView], None]


class Watch:
    def __init__(self, app: App, tell: Tell) -> None:
        self._app, self._tell = app, tell
        self._batch_of: dict[str, str] = {}
        self._seen: dict[str, BatchView] = {}
        self._changed = asyncio.Condition()

    async def follow(self) -> None:
        """Until it is cancelled."""
        async for event in self._app.events(follow=True):
            if batch_id := self._batch_of.get(event.job_id):
                await self.look(batch_id)

    async def add(self, batch_id: str, job_id: str) -> None:
        self._batch_of[job_id] = batch_id
        await self.look(batch_id)

    async def look(self, batch_id: str) -> None:
        try:
            [view] = await views(self._app, [await stored.find(self._app, batch_id)])
        except stored.BatchNotFound:  # somebody has deleted it
            return
        self._tell(view)
        async with self._changed:
            self._seen[batch_id] = view
            self._changed.notify_all()

    async def until(self, batch_id: str, holds: Callable[[BatchView], bool]) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: batch_id in self._seen and holds(self._seen[batch_id]))

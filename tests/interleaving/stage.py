"""Plays a scene once in every possible order, each time with new jobs, and checks what is left behind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count

import asyncpg

from tests.interleaving.harness import CountBlocked, Director
from tests.interleaving.orders import Orders
from tests.interleaving.scene import Scene
from towpath import App

# Far above what any pair of verbs needs; more would be a mistake in the scene.
_MOST_ORDERS = 400

_BLOCKED = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND cardinality(pg_blocking_pids(pid)) > 0
"""


# Between looking for relatives and locking them only relatives can come and go: a stop there is for family matters.
RELATIVES = frozenset({"apply.looked"})
NOTHING: frozenset[str] = frozenset()


class Stage:
    def __init__(self, app: App, count_blocked: CountBlocked) -> None:
        self.app = app
        self.store = app.services.store
        self._count_blocked = count_blocked
        self._numbers = count(1)

    @property
    def pauses_inside(self) -> bool:
        """Whether a transaction can stand still in the middle here."""
        return self.store.dialect == "postgres"

    async def every_order(
        self, play: Callable[[Scene], Awaitable[None]], *, pass_by: frozenset[str] = RELATIVES, drain: bool = True
    ) -> list[Scene]:
        """Plays until there is no order left. Answers the scenes, each with the order it had."""
        orders, scenes = Orders(), []
        while True:
            scene = Scene(self.app, f"q{next(self._numbers)}", Director(orders.choose, self._count_blocked, pass_by))
            try:
                await play(scene)
                await scene.check()
                if drain:
                    await scene.drain()
                    await scene.check()
            except BaseException as error:
                error.add_note(f"in the order: {scene.order}")
                raise
            scenes.append(scene)
            assert len(scenes) <= _MOST_ORDERS, "this scene has too many orders"
            if not orders.next():
                return scenes


@asynccontextmanager
async def open_stage(url: str) -> AsyncIterator[Stage]:
    async with App(url) as app:
        if app.services.store.dialect == "sqlite":
            yield Stage(app, _nobody)
            return
        watcher = await asyncpg.connect(url)
        try:
            yield Stage(app, lambda: watcher.fetchval(_BLOCKED))
        finally:
            await watcher.close()


async def _nobody() -> int:
    return 0

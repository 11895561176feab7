"""Runs actors one stretch at a time, from one named point to the next, in an order that somebody else chooses.

An actor is a coroutine that does one verb on a connection of its own. It stands still at every point the engine reaches
(`towpath.core.failpoints`) until it is its turn. An actor that waits for another one's row lock reaches no point: the
database says so, and the others go on.

On SQLite the points inside a unit are passed in the writer's thread, where no actor stands: units run straight through,
and what is left to choose is the order of whole units.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from towpath.core import failpoints

# Nothing can happen between these and the point after them, so stopping there too would only repeat orders.
_REPEATS = frozenset({"apply.written", "record.written", "tx.committed", "worker.claimed", "worker.ran"})
_LOOK_EVERY = 0.002
_PATIENCE = 20.0


class Choose(Protocol):
    def __call__(self, options: list[str], *, firm: bool) -> str: ...


CountBlocked = Callable[[], Awaitable[int]]


class Stuck(Exception):
    """An actor neither arrived anywhere nor waits for a lock that somebody could release."""


@dataclass(eq=False)
class Actor:
    name: str
    act: Callable[[], Awaitable[Any]]
    at: str | None = None
    """The point it stands at; None while it moves or after it has ended."""
    ended: bool = False
    value: Any = None
    error: Exception | None = None
    begun: int = 0
    turn: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def moving(self) -> bool:
        return self.at is None and not self.ended


_acting: ContextVar[Actor | None] = ContextVar("acting", default=None)


class Director:
    """One performance: `trace` tells who went on from where, in order."""

    def __init__(self, choose: Choose, count_blocked: CountBlocked, pass_by: frozenset[str] = frozenset()) -> None:
        self._choose, self._count_blocked = choose, count_blocked
        self._pass_by = _REPEATS | pass_by
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._actors: list[Actor] = []
        self.trace: list[str] = []
        self.waited: set[str] = set()
        """Actors that were seen waiting for somebody's lock."""
        self.again = 0
        """How often the database refused a transaction, and it was run once more."""

    async def perform(self, acts: Mapping[str, Callable[[], Awaitable[Any]]]) -> dict[str, Any]:
        """What each actor answered, or the exception that ended it."""
        self._actors = [Actor(name, act) for name, act in acts.items()]
        failpoints.install(self._hook)
        tasks = [asyncio.create_task(self._live(actor), name=actor.name) for actor in self._actors]
        try:
            await self._until_still()
            while standing := {actor.name: actor for actor in self._actors if actor.at is not None}:
                # Which of two deadlocked actors the database picks depends on time; until then all is determined.
                actor = standing[self._choose(sorted(standing), firm=not self.again)]
                self.trace.append(f"{actor.name} from {actor.at}")
                actor.at = None
                actor.turn.set()
                await self._until_still()
        finally:
            failpoints.install(None)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return {actor.name: actor.error or actor.value for actor in self._actors}

    async def _live(self, actor: Actor) -> None:
        _acting.set(actor)
        try:
            await self._stand(actor, "the start")
            actor.value = await actor.act()
        except Exception as error:
            actor.error = error
        finally:
            actor.ended = True
            self._changed.set()

    def _hook(self, point: str) -> Awaitable[None] | None:
        actor = _acting.get()
        if actor is not None and point == "tx.again":
            self.again += 1
            return None
        if actor is None or point in self._pass_by:
            return None
        if point == "tx.begin":
            actor.begun += 1
            if actor.begun == 1:
                return None  # it has done nothing since its last stop
        return self._stand(actor, point)

    async def _stand(self, actor: Actor, point: str) -> None:
        actor.at = point
        self._changed.set()
        await actor.turn.wait()
        actor.turn.clear()

    async def _until_still(self) -> None:
        """Until nobody moves, or all who do wait for locks and somebody else can go on."""
        deadline = self._loop.time() + _PATIENCE
        while moving := [actor for actor in self._actors if actor.moving]:
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_EVERY):
                    await self._changed.wait()
                continue
            blocked = await self._count_blocked()
            same = moving == [actor for actor in self._actors if actor.moving]
            if same and blocked == len(moving):
                self.waited.update(actor.name for actor in moving)
                if any(actor.at is not None for actor in self._actors):
                    return
            if self._loop.time() > deadline:
                raise Stuck(f"{', '.join(actor.name for actor in moving)} got nowhere after: {'; '.join(self.trace)}")

"""Group commit: what concurrent jobs write at the same moment shares a transaction.

Nobody waits for a timer: an idle scribe writes at once, a busy one takes along whatever came while it wrote. Notes and
settles of one job keep their order. If a batch fails, each of its items is tried alone, so a neighbour's bad input costs
nobody else anything.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from towpath.core.transitions import Transition
from towpath.store import journal
from towpath.store.contract import Store
from towpath.store.journal import Note

log = logging.getLogger("towpath.scribe")
T = TypeVar("T")
Answer = asyncio.Future[Any]
Done = Callable[[Any, BaseException | None], None]


class Scribe:
    def __init__(self, store: Store) -> None:
        self._store = store
        self.loop = asyncio.get_running_loop()
        self._notes: list[tuple[Note, Done]] = []
        self._settles: list[tuple[Transition, Done]] = []
        self._apart: list[tuple[Transition, Done]] = []
        self._task: asyncio.Task[None] | None = None
        self._noting = False

    def note(self, note: Note) -> Answer:
        """Resolves to whether the fence let the note through."""
        answer = self.loop.create_future()
        self._notes.append((note, _resolve(answer)))
        self._wake()
        return answer

    def settle(self, transition: Transition, done: Done) -> None:
        """Calls `done(refused, error)`: refused is None, or the reason why the fence held. A plain callback, not a
        future, because every job passes here."""
        self._settles.append((transition, done))
        self._wake()

    def leave(self, transition: Transition, done: Done) -> None:
        """`settle` for a worker that will take it along with its next claim, or else say `write`."""
        self._settles.append((transition, done))

    def write(self) -> None:
        """What has been left, if anything."""
        if self._settles:
            self._wake()

    def hand_over(self) -> list[tuple[Transition, Done]]:
        """What waits to be settled, for a worker that is about to claim: both fit into one commit. Nothing while notes
        are on their way, because a job's notes come before its settle."""
        if self._notes or self._noting:
            return []
        settles, self._settles = self._settles, []
        return settles

    def take_back(self, settles: list[tuple[Transition, Done]]) -> None:
        self._settles = settles + self._settles
        self._wake()

    def set_apart(self, settles: list[tuple[Transition, Done]]) -> None:
        """What a turn could not decide: written without one."""
        self._apart += settles
        self._wake()

    def _wake(self) -> None:
        if self._task is None:
            self._task = self.loop.create_task(self._write())

    async def drain(self) -> None:
        while self._task is not None:
            await asyncio.wait({self._task})

    async def _write(self) -> None:
        try:
            while self._notes or self._settles or self._apart:
                notes, self._notes = self._notes, []
                settles, self._settles, self._apart = self._apart + self._settles, [], []
                if notes:
                    self._noting = True
                    await _batch(notes, lambda items: self._store.run(lambda tx: journal.record(tx, items)))
                    self._noting = False
                if settles:
                    await _batch(settles, self._store.settle)
        finally:
            self._task = None
            self._noting = False


async def _batch(items: list[tuple[T, Done]], write: Callable[[Sequence[T]], Awaitable[Sequence[Any]]]) -> None:
    try:
        values = await write([item for item, _ in items])
    except Exception as error:
        if len(items) > 1:
            log.warning("a batch of %d writes failed, trying each alone: %s", len(items), error)
            for item in items:
                await _batch([item], write)
        else:
            items[0][1](None, error)
        return
    for (_, done), value in zip(items, values, strict=True):
        done(value, None)


def _resolve(answer: Answer) -> Done:
    def done(value: Any, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(value)

    return done

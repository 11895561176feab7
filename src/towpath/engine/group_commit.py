"""Group commit: what concurrent jobs write at the same moment shares a transaction.

Nobody waits for a timer: an idle one writes at once, a busy one takes along whatever came while it wrote. Notes and
settles of one job keep their order. If a batch fails, each of its items is tried alone, so a neighbour's bad input costs
nobody else anything. While the database is away everything is held: it is paid for, and the fence decides when it is back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from towpath.core.errors import StoreUnavailable
from towpath.core.transitions import Transition
from towpath.store import journal
from towpath.store.contract import Store
from towpath.store.journal import Note

log = logging.getLogger("towpath.group_commit")
T = TypeVar("T")
Answer = asyncio.Future[Any]
Done = Callable[[Any, BaseException | None], None]
Settle = tuple[Transition, Done]

_AWAY_AFTER = 5.0  # seconds without an answer
_SAY_AGAIN = 60.0
_TRY_AGAIN = 0.2


class GroupCommit:
    def __init__(self, store: Store) -> None:
        self._store = store
        self.loop = asyncio.get_running_loop()
        self._notes: list[tuple[Note, Done]] = []
        self._settles: list[Settle] = []
        self._task: asyncio.Task[None] | None = None
        self._taking_notes = False
        self._writing: list[tuple[Any, Done]] = []
        self.away = False  # the database has not answered for a while

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

    def settle_all(self, settles: Sequence[Settle]) -> None:
        if settles:
            self._settles += settles
            self._wake()

    @property
    def noting(self) -> bool:
        """Whether notes are on their way. Whoever settles past it has to wait for them: a job's notes come first."""
        return self._taking_notes or bool(self._notes)

    def _wake(self) -> None:
        if self._task is None:
            self._task = self.loop.create_task(self._write())

    async def drain(self, seconds: float = float("inf")) -> bool:
        """Waits until all is written; while the database is away only for so long. Answers whether it is."""
        ends = self.loop.time() + seconds
        while self._task is not None:
            if self.away and self.loop.time() >= ends:
                return False
            await asyncio.wait({self._task}, timeout=None if seconds == float("inf") else _TRY_AGAIN)
        return True

    async def close(self) -> None:
        """Writes what is left. If the database is away, whoever wanted it written is told that it was not."""
        if await self.drain(0.0) or self._task is None:
            return
        task = self._task
        task.cancel()
        await asyncio.wait({task})
        given_up = StoreUnavailable("the database was away until the process ended")
        for _, done in [*self._writing, *self._notes, *self._settles]:
            done(None, given_up)
        self._writing, self._notes, self._settles = [], [], []

    async def _write(self) -> None:
        try:
            while self._notes or self._settles:
                notes, self._notes = self._notes, []
                settles, self._settles = self._settles, []
                if notes:
                    self._taking_notes = True
                    await self._keep_at(notes, settles, lambda items: self._store.run(lambda tx: journal.record(tx, items)))
                    self._taking_notes = False
                if settles:
                    await self._keep_at(settles, [], self._store.settle)
        finally:
            self._task = None
            self._taking_notes = False

    async def _keep_at(
        self,
        items: list[tuple[T, Done]],
        behind: list[tuple[Any, Done]],
        write: Callable[[Sequence[T]], Awaitable[Sequence[Any]]],
    ) -> None:
        """Until they are written. `behind` are those that wait for them."""
        self._saying = self.loop.call_later(_AWAY_AFTER, self._say_held)
        try:
            while items:
                self._writing = [*items, *behind]
                items = await _batch(items, write)
                if items:
                    await asyncio.sleep(_TRY_AGAIN)
            self._writing = []
        finally:
            self._saying.cancel()
        if self.away:
            self.away = False
            log.info("the database answers again; what was held is written")

    def _say_held(self) -> None:
        self.away = True
        held = len(self._writing) + len(self._notes) + len(self._settles)
        log.warning("the database does not answer: %d results and notes of jobs are held until it does", held)
        self._saying = self.loop.call_later(_SAY_AGAIN, self._say_held)


async def _batch(
    items: list[tuple[T, Done]], write: Callable[[Sequence[T]], Awaitable[Sequence[Any]]]
) -> list[tuple[T, Done]]:
    """Answers those that could not be written because the database is away."""
    try:
        values = await write([item for item, _ in items])
    except StoreUnavailable:
        return items
    except Exception as error:
        if len(items) == 1:
            items[0][1](None, error)
            return []
        log.warning("a batch of %d writes failed, trying each alone: %s", len(items), error)
        for number, item in enumerate(items):
            if await _batch([item], write):
                return items[number:]
        return []
    for (_, done), value in zip(items, values, strict=True):
        done(value, None)
    return []


def _resolve(answer: Answer) -> Done:
    def done(value: Any, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(value)

    return done

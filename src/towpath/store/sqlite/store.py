"""The SQLite store: a writer thread, a few reading threads, and the file as the doorbell between processes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import apsw

from towpath.core.blocking import beside
from towpath.core.errors import StoreUnavailable
from towpath.core.failpoints import reach
from towpath.core.listeners import Listeners
from towpath.core.records import Enqueued, NewJob
from towpath.core.topics import EVERYWHERE, of_worker
from towpath.core.transitions import Transition
from towpath.store import private
from towpath.store.contract import Claim, ClaimedBatch, Heart, Unit
from towpath.store.listeners import Pulse
from towpath.store.sql import engine_queries
from towpath.store.sqlite import hot
from towpath.store.sqlite.connection import check_health, connect
from towpath.store.sqlite.heart import SqliteHeart
from towpath.store.sqlite.session import SessionTx, begin
from towpath.store.sqlite.tx import SqliteTx, drive
from towpath.store.sqlite.writer import Session, Work, Writer
from towpath.store.turning import claim_after

T = TypeVar("T")

_LARGE, _AN_INSTANT = 16, 1e-6


class SqliteBell:
    """Rings inside the process at once; other processes notice the commit itself."""

    def __init__(self) -> None:
        self.listeners = Listeners()

    async def open(self) -> None:
        return None

    async def close(self) -> None:
        return None

    def ring(self, topics: Iterable[str]) -> None:
        for topic in topics:
            self.listeners.tell(topic)

    def listen(self, heard: Callable[[str], None]) -> Callable[[], None]:
        return self.listeners.add(heard)


class SqliteStore:
    dialect = "sqlite"

    def __init__(self, path: Path, *, url: str | None = None, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self.url = url or f"sqlite:///{path}"
        self.queries = engine_queries("sqlite")
        self.bell = SqliteBell()
        self.ring: Callable[[Iterable[str]], None] = self.bell.ring
        self.followed: Callable[[], object] = object  # the file itself tells of events
        self._pulse = Pulse()
        self._clock = clock
        self._local = threading.local()
        self._connections: list[apsw.Connection] = []
        self._readers: ThreadPoolExecutor | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def open(self) -> None:
        if self._readers is not None:
            return
        self._loop = asyncio.get_running_loop()
        private.make_folder(self.path.parent)
        private.tighten(private.files_of(self.path))
        self._readers = ThreadPoolExecutor(2, "towpath-reader")
        self._writer = Writer(self.path, self.queries, clock=self._clock, committed=self._committed, changed=self._changed)
        try:
            await asyncio.to_thread(self._writer.start)
            await self._loop.run_in_executor(self._readers, self._check)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        if self._readers is None:
            return
        readers, self._readers = self._readers, None
        await beside(self._writer.stop)
        await beside(readers.shutdown)
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._local = threading.local()

    def _threads(self) -> ThreadPoolExecutor:
        if self._readers is None:
            raise StoreUnavailable("the store is closed; open the app before using it")
        return self._readers

    def _check(self) -> None:
        check_health(self._reader(), self.path)

    def _reader(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = connect(self.path)
            self._connections.append(connection)
        return connection

    def _committed(self, rings: set[str], cancelled: list[str], works: Sequence[Work]) -> None:
        """Called by the writer after each commit, in its thread. Waking the loop is not free: once for everybody in it."""
        here = []
        for work in works:
            if work.future.get_loop() is self._loop:
                here.append(work)
            else:
                work.done(work.value, work.error)
        topics = sorted(rings) + [of_worker(worker) for worker in cancelled]
        self._in_loop(partial(self._after, topics, here))

    def _changed(self) -> None:
        """Another process has committed: it could be anything."""
        self._in_loop(self._look_everywhere)

    def _after(self, topics: list[str], works: Sequence[Work] = ()) -> None:
        for work in works:
            work.answer()
        self.ring(topics)
        self._pulse.beat()

    def _look_everywhere(self) -> None:
        self.bell.listeners.tell(EVERYWHERE)
        self._pulse.beat()

    def _in_loop(self, callback: Callable[[], None]) -> None:
        assert self._loop is not None
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback)

    async def run(self, unit: Unit[T], peek: Callable[[apsw.Connection], bool] | None = None, nothing: T | None = None) -> T:
        """`nothing` is the answer if a peek says that there is nothing to do."""
        return await (await self._submit(unit, peek, nothing))

    async def _submit(
        self,
        unit: Unit[T],
        peek: Callable[[apsw.Connection], bool] | None = None,
        nothing: T | None = None,
        alone: hot.CommitsItself[T] | None = None,
    ) -> asyncio.Future[T]:
        await reach("tx.begin")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._threads()
        self._writer.submit(Work(unit, future, peek, nothing, alone))
        return future

    async def read(self, unit: Unit[T]) -> T:
        def work() -> T:
            connection = self._reader()
            connection.execute("BEGIN")
            try:
                return drive(unit(SqliteTx(connection, self.queries, datetime.fromtimestamp(self._clock(), UTC))))
            finally:
                connection.execute("COMMIT")

        return await asyncio.get_running_loop().run_in_executor(self._threads(), work)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[SessionTx]:
        session = Session()
        self._threads()
        self._writer.submit(session)
        tx = await begin(session)
        try:
            yield tx
        except BaseException:
            await tx.end("rollback")
            raise
        await tx.end("commit")

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        return await self.run(lambda tx: tx.insert_jobs(jobs))

    async def claim(self, claim: Claim) -> ClaimedBatch:
        nothing = ClaimedBatch(claim.queue)
        return await self.run(hot.claim(claim), hot.has_ready(claim.queue), nothing)  # type: ignore[arg-type]  # a SqliteTx is a Tx

    async def advance(self, queue: str, floors: Mapping[int, float]) -> dict[int, float]:
        async def unit(tx: Any) -> dict[int, float]:
            for priority, floor in floors.items():
                await tx.execute("put_floor", queue=queue, priority=priority, floor=floor)
            return {row["priority"]: row["floor"] for row in await tx.fetch("floors", queue=queue)}

        return await self.run(unit)

    async def settle(self, transitions: Sequence[Transition]) -> list[str | None]:
        return await self.run(lambda tx: hot.settle(tx, transitions))  # type: ignore[arg-type]  # a SqliteTx is a Tx

    async def turn(self, transitions: Sequence[Transition], claim: Claim) -> tuple[list[str | None], ClaimedBatch]:
        answer = await self._submit(hot.turn(transitions, claim), alone=hot.turn_alone(transitions, claim))  # type: ignore[arg-type]  # a SqliteTx is a Tx
        if len(transitions) >= _LARGE:
            # The writer's thread needs the interpreter's lock to begin, and the event loop, which has the next jobs to run,
            # would keep it for milliseconds. Let go of it now, and the long statement runs while they do: a third faster.
            time.sleep(_AN_INSTANT)  # noqa: ASYNC251  (to block for a moment is the point)
        verdicts, batch = await answer
        return verdicts, batch if batch else await claim_after(self, claim)

    def heart(self) -> Heart:
        return SqliteHeart(self.path, self.queries, self._clock)

    def heard(self, topic: str) -> None:
        """Whoever commits here beats the pulse itself, and the file tells of all others."""

    def follow(self) -> AsyncIterator[None]:
        return self._pulse.follow(at_least_every=1.0)

    async def backup(self, target: Path) -> None:
        """A consistent copy while everything goes on."""

        def work() -> None:
            private.make_file(target)
            copy = apsw.Connection(str(target))
            try:
                # In one go: in pieces it would start over whenever somebody has written in between. It blocks nobody.
                with copy.backup("main", self._reader(), "main") as backup:
                    backup.step(-1)
            finally:
                copy.close()

        await asyncio.get_running_loop().run_in_executor(self._threads(), work)

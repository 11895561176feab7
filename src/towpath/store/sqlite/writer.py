"""The one thread of a process that writes to the SQLite file.

Units that are waiting share a commit, each in a savepoint of its own, so a failing unit takes nobody with it. When idle,
the thread watches `data_version`, which changes when another process has committed: that is the doorbell between
processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from towpath.core.errors import StoreUnavailable
from towpath.core.failpoints import touch
from towpath.store.sql import Queries
from towpath.store.sqlite.connection import connect, forget_statistics
from towpath.store.sqlite.turnstile import Turnstile
from towpath.store.sqlite.tx import SqliteTx, drive

_BUSY_POLL, _IDLE_POLL, _IDLE_AFTER = 0.004, 0.05, 60.0
_MOST_UNITS = 500
_SESSION_SECONDS = 5.0


@dataclass(slots=True)
class Work:
    """A unit on its way to the writer. `peek` may say that there is nothing to do: then no transaction is needed, and
    `value` is the answer as it is. `alone` does the same as the unit if nobody shares the commit, and commits by itself."""

    unit: Callable[[SqliteTx], Awaitable[Any]]
    future: asyncio.Future[Any]
    peek: Callable[[apsw.Connection], bool] | None = None
    value: Any = None
    alone: Callable[[apsw.Connection, float], Any] | None = None
    error: BaseException | None = None

    def done(self, value: Any, error: BaseException | None) -> None:
        """From the writer's thread."""
        self.value, self.error = value, error
        loop = self.future.get_loop()
        if not loop.is_closed():
            loop.call_soon_threadsafe(self.answer)

    def answer(self) -> None:
        """In the loop of whoever asked."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.value)


@dataclass(slots=True)
class Session:
    """A caller's own transaction: from the moment it has the write lock, the writer serves its calls until it ends, and
    nobody else's."""

    opened: Future[None] = field(default_factory=Future)
    calls: queue.SimpleQueue[tuple[Callable[[SqliteTx], Awaitable[Any]] | str, Future[Any]]] = field(
        default_factory=queue.SimpleQueue
    )


class Writer:
    def __init__(
        self,
        path: Path,
        queries: Queries,
        *,
        clock: Callable[[], float] = time.time,
        committed: Callable[[set[str], list[str], Sequence[Work]], None],
        changed: Callable[[], None],
    ) -> None:
        self._path, self._queries, self._clock = path, queries, clock
        self._committed, self._changed = committed, changed
        self._inbox: queue.SimpleQueue[Work | Session | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="towpath-writer", daemon=True)
        self._started: Future[None] = Future()
        self._stopped = False

    def start(self) -> None:
        self._thread.start()
        self._started.result()

    def stop(self) -> None:
        if not self._stopped:
            self._stopped = True
            self._inbox.put(None)
            self._thread.join()

    def submit(self, work: Work | Session) -> None:
        if self._stopped:
            raise StoreUnavailable("the store is closed; open the app before using it")
        self._inbox.put(work)

    def _run(self) -> None:
        try:
            self._connection = connect(self._path)
            self._turnstile = Turnstile(self._path)
            with self._turnstile.turn(), contextlib.suppress(apsw.Error):  # nothing to refuse a file for
                forget_statistics(self._connection)
            version = self._data_version()
        except BaseException as error:
            self._started.set_exception(error)
            return
        self._started.set_result(None)
        now = looked = last_change = time.monotonic()
        while True:
            idle = now - last_change > _IDLE_AFTER
            try:
                batch = self._take(_IDLE_POLL if idle else _BUSY_POLL)
            except queue.Empty:
                batch = []
            if batch is None:
                break
            if batch:
                self._serve(batch)
            now = time.monotonic()
            if now - looked < _BUSY_POLL:
                continue
            looked = now
            try:
                seen = self._data_version()
            except apsw.Error:  # a disk that does not answer: whoever has work is told so, and we look again
                continue
            if seen != version:
                version, last_change = seen, now
                self._changed()
        self._turnstile.close()
        self._connection.close()

    def _data_version(self) -> Any:
        """Changes when another connection has committed. Not Connection.data_version(), which opens no read transaction
        and so does not look at the file."""
        return self._connection.execute("PRAGMA data_version").fetchall()

    def _take(self, patience: float) -> list[Work | Session] | None:
        first = self._inbox.get(timeout=patience)
        if first is None:
            return None
        batch = [first]
        while len(batch) < _MOST_UNITS:
            try:
                item = self._inbox.get_nowait()
            except queue.Empty:
                break
            if item is None:
                self._inbox.put(None)
                break
            batch.append(item)
        return batch

    def _serve(self, batch: list[Work | Session]) -> None:
        works = [item for item in batch if isinstance(item, Work)]
        needed = []
        for work in works:
            try:
                if work.peek is None or work.peek(self._connection):
                    needed.append(work)
                else:
                    work.done(work.value, None)
            except Exception as error:  # this caller's, never the end of the thread that everybody needs
                work.done(None, _translated(error))
        if needed:
            self._commit_together(needed)
        for item in batch:
            if isinstance(item, Session):
                self._attend(item)

    def _commit_together(self, works: list[Work]) -> None:
        tx = self._tx()
        try:
            with self._turnstile.turn():
                if len(works) == 1 and works[0].alone is not None:
                    touch("tx.commit")
                    works[0].value = works[0].alone(self._connection, self._clock())
                else:
                    self._commit_units(tx, works)
        except BaseException as error:
            failed = _translated(error)
            for work in works:
                work.done(None, work.error or failed)
            return
        touch("tx.committed")
        self._committed(tx.rings, tx.cancelled, works)

    def _commit_units(self, tx: SqliteTx, works: list[Work]) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            tx.now = self._now()
            for work in works:
                self._run_unit(tx, work, alone=len(works) == 1)
            touch("tx.commit")
            self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _run_unit(self, tx: SqliteTx, work: Work, *, alone: bool) -> None:
        if alone:
            try:
                work.value = drive(work.unit(tx))
            except BaseException as error:
                work.error = _translated(error)
                raise
            return
        self._connection.execute("SAVEPOINT unit")
        rings, cancelled = set(tx.rings), list(tx.cancelled)
        try:
            work.value = drive(work.unit(tx))
        except BaseException as error:
            if self._connection.get_autocommit():
                raise  # the whole transaction is gone (disk full, I/O error): everyone's
            self._connection.execute("ROLLBACK TO unit")
            tx.rings, tx.cancelled = rings, cancelled
            work.error = _translated(error)
        self._connection.execute("RELEASE unit")

    def _attend(self, session: Session) -> None:
        tx = self._tx()
        try:
            with self._turnstile.turn():
                if not session.opened.set_running_or_notify_cancel():
                    return  # its caller has given up waiting
                self._connection.execute("BEGIN IMMEDIATE")
                tx.now = self._now()
                session.opened.set_result(None)
                ended = self._serve_calls(session, tx, time.monotonic() + _SESSION_SECONDS)
        except BaseException as error:
            self._roll_back()
            if not session.opened.done():
                session.opened.set_exception(_translated(error))
            return
        if ended:
            self._committed(tx.rings, tx.cancelled, ())

    def _serve_calls(self, session: Session, tx: SqliteTx, deadline: float) -> bool:
        while True:
            try:
                call, answer = session.calls.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                self._roll_back()
                threading.Thread(target=_refuse_rest, args=(session,), daemon=True).start()
                return False
            if not answer.set_running_or_notify_cancel():  # its caller gave up before it was served
                if isinstance(call, str):
                    self._roll_back()
                    return False
                continue
            try:
                if call == "commit":
                    self._connection.execute("COMMIT")
                    answer.set_result(None)
                    return True
                if call == "rollback":
                    self._roll_back()
                    answer.set_result(None)
                    return False
                assert callable(call)
                answer.set_result(drive(call(tx)))
            except BaseException as error:
                answer.set_exception(_translated(error))
                if call == "commit":
                    self._roll_back()
                    return False

    def _roll_back(self) -> None:
        if not self._connection.get_autocommit():
            with contextlib.suppress(apsw.Error):  # the reason for rolling back is the one to be told
                self._connection.execute("ROLLBACK")

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)

    def _tx(self) -> SqliteTx:
        return SqliteTx(self._connection, self._queries, self._now())


def _refuse_rest(session: Session) -> None:
    """Answers the calls of a transaction that took too long, until its caller has heard of it."""
    while True:
        try:
            call, answer = session.calls.get(timeout=600)
        except queue.Empty:
            return
        if not answer.set_running_or_notify_cancel():
            continue
        if call == "rollback":
            answer.set_result(None)
            return
        answer.set_exception(
            StoreUnavailable(
                f"the transaction was open for more than {_SESSION_SECONDS:.0f} s and was rolled back, because on SQLite "
                f"it holds the write lock; do slow work before or after it"
            )
        )
        if call == "commit":
            return


def _translated(error: BaseException) -> BaseException:
    """SQLite's own words for what an operator has to act on, turned into ours."""
    if isinstance(error, apsw.FullError):
        return StoreUnavailable("the disk is full; nothing of this transaction was kept. Free space and try again")
    if isinstance(error, apsw.IOError | apsw.BusyError | apsw.ReadOnlyError | apsw.CantOpenError):
        return StoreUnavailable(f"SQLite refused the transaction ({error}); nothing of it was kept")
    return error

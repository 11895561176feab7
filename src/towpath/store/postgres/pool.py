"""A stack of connections. Taking one that rests and putting it back costs no task and no round trip.

asyncpg's own pool makes a task for every release and puts a proxy before every call: with statements as short as ours,
that is a noticeable part of a job.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import asyncpg

from towpath.store.postgres.connecting import CUT, GONE

Connection = Any  # asyncpg has no type information
_RESTS_AT_MOST = 300.0


class Pool:
    def __init__(self, make: Callable[[], Awaitable[Connection]], size: int) -> None:
        self._make, self._size = make, size
        self._resting: list[tuple[Connection, float]] = []  # the one used last is on top; the bottom may grow old
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._lent: set[Connection] = set()
        self._opening = 0
        self._closed = False

    @property
    def exhausted(self) -> bool:
        """Whether every connection it may have is in use."""
        return not self._resting and self._count >= self._size

    @property
    def _count(self) -> int:
        return len(self._resting) + len(self._lent) + self._opening

    def take_resting(self) -> Connection | None:
        """The connection used last, if one rests."""
        while self._resting:
            connection, _ = self._resting.pop()
            if not connection.is_closed():
                self._lent.add(connection)
                return connection
        return None

    async def take(self) -> Connection:
        """The connection used last, a new one, or the next to be put back; in the order of asking."""
        while True:
            resting = self.take_resting()
            if resting is not None:
                return resting
            if self._closed:
                raise asyncpg.InterfaceError("the pool is closed")
            if self._count < self._size:
                return await self._open()
            await self._wait()

    async def _open(self) -> Connection:
        self._opening += 1
        try:
            connection = await self._make()
        except BaseException:
            self._wake_next()
            raise
        finally:
            self._opening -= 1
        self._lent.add(connection)
        return connection

    async def _wait(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was given a turn it will not use
                self._wake_next()
            raise
        finally:
            with suppress(ValueError):
                self._waiting.remove(turn)

    def give_back(self, connection: Connection) -> None:
        self._lent.discard(connection)
        if self._closed:
            connection.terminate()
        elif not connection.is_closed():
            self._resting.append((connection, time.monotonic()))
            self._retire()
        self._wake_next()

    def drop(self, connection: Connection) -> None:
        """Instead of giving it back: nobody knows what state it is in."""
        self._lent.discard(connection)
        connection.terminate()
        self._wake_next()

    def _wake_next(self) -> None:
        for turn in self._waiting:
            if not turn.done():
                turn.set_result(None)
                return

    def _retire(self) -> None:
        """Proxies and firewalls forget connections that nobody uses."""
        connection, since = self._resting[0]
        if time.monotonic() - since > _RESTS_AT_MOST:
            del self._resting[0]
            connection.terminate()

    async def close(self) -> None:
        """Closes what rests; what is lent is closed when it comes back."""
        self._closed = True
        resting, self._resting = self._resting, []
        await asyncio.gather(*(connection.close(timeout=5) for connection, _ in resting), return_exceptions=True)
        for turn in self._waiting:
            if not turn.done():
                turn.set_result(None)


class BorrowedConnection:
    """A connection for the length of a block. A class, and no task or timer where one rests: every statement passes here."""

    __slots__ = ("_connection", "_patience", "_pool", "_refusal")

    def __init__(self, pool: Pool, patience: float, refusal: Callable[[BaseException], BaseException]) -> None:
        self._pool, self._patience, self._refusal = pool, patience, refusal

    async def __aenter__(self) -> Connection:
        self._connection = self._pool.take_resting()
        if self._connection is None:
            try:
                async with asyncio.timeout(self._patience):
                    self._connection = await self._pool.take()
            except (TimeoutError, asyncpg.PostgresError, *GONE) as error:
                raise self._refusal(error) from error
        return self._connection

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # Perhaps in the middle of a statement, or of a message.
        if kind is not None and issubclass(kind, (asyncio.CancelledError, *CUT)):
            self._pool.drop(self._connection)
        else:
            self._pool.give_back(self._connection)

"""The PostgreSQL store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

import asyncpg

from towpath.core.encoding import decode
from towpath.core.errors import StoreUnavailable
from towpath.core.failpoints import reach
from towpath.core.outage import Outage
from towpath.core.records import Enqueued, NewJob
from towpath.core.topics import EVENTS, EVERYWHERE, of_worker
from towpath.core.transitions import Transition
from towpath.store import ledger
from towpath.store.contract import UNDECIDED, Claim, ClaimedBatch, Heart, Unit
from towpath.store.listeners import Pulse
from towpath.store.postgres import inserting
from towpath.store.postgres.bell import PostgresBell
from towpath.store.postgres.connecting import (
    CUT,
    GONE,
    RUN_AGAIN,
    PoolExhausted,
    connect,
    is_gone,
    lost_transaction,
    unavailable,
)
from towpath.store.postgres.heart import PostgresHeart
from towpath.store.postgres.parameters import NOTHING, claimed_rows, endings, request
from towpath.store.postgres.pool import BorrowedConnection, Pool
from towpath.store.postgres.tx import PostgresTx
from towpath.store.postgres.unsure import Unsure, ours
from towpath.store.sql import engine_queries
from towpath.store.turning import claim_after

T = TypeVar("T")

log = logging.getLogger("towpath.store")

_TRIES = 8
_OUTAGE_SECONDS = 60.0


class PostgresStore:
    dialect = "postgres"

    def __init__(self, url: str, *, pool_size: int = 10, checkout_seconds: float = 10.0, idle_seconds: float = 30.0) -> None:
        self.url = url
        self.queries = engine_queries("postgres")
        self._pulse = Pulse()
        self.bell = PostgresBell(url, self.queries)
        self.bell.listen(self.heard)
        self.ring: Callable[[Iterable[str]], None] = self.bell.ring
        self.followed: Callable[[], object] = _nothing
        self._pool_size, self._checkout_seconds, self._idle_seconds = pool_size, checkout_seconds, idle_seconds
        self._pool: Pool | None = None
        self._outage, self._unsure = Outage("PostgreSQL", log), Unsure()
        self._caps: set[str] = set()
        self._caps_until = float("-inf")

    async def open(self) -> None:
        if self._pool is not None:
            return
        pool = Pool(partial(connect, self.url, self._idle_seconds), self._pool_size)
        try:
            pool.give_back(await pool.take())  # an address or password that is wrong is told now
        except Exception as error:
            raise unavailable(error) from error
        self._pool = pool

    async def close(self) -> None:
        if self._pool is None:
            return
        pool, self._pool = self._pool, None
        await pool.close()

    def _connection(self) -> BorrowedConnection:
        if self._pool is None:
            raise StoreUnavailable("the store is closed; open the app before using it")
        return BorrowedConnection(self._pool, self._checkout_seconds, self._refusal)

    def _refusal(self, error: BaseException) -> BaseException:
        if self._pool is None or not isinstance(error, TimeoutError) or not self._pool.exhausted:
            return unavailable(error)
        return PoolExhausted(
            f"no connection became free within {self._checkout_seconds:g} s, all {self._pool_size} are in use; "
            f"keep transactions short, or raise TOWPATH_POOL_SIZE"
        )

    async def _again(self, work: Any, *, patient: bool = True) -> Any:
        """Runs `work` until it is through: at once again after a deadlock, patiently again after an outage. Only those
        whose work is done already (a worker with a result) also wait longer than others for a free connection.

        Work is safe to repeat: ids are made by the client and every write is guarded, so a commit whose answer was
        lost is recognised by its own effect.
        """
        loop = asyncio.get_running_loop()
        gives_up = loop.time() + _OUTAGE_SECONDS
        tries = 0
        while True:
            try:
                done = await work()
                self._outage.over()
                return done
            except RUN_AGAIN:
                tries += 1
                if tries >= _TRIES:
                    raise
                await reach("tx.again")
            except (StoreUnavailable, *GONE) as error:
                refused = isinstance(error, PoolExhausted) and not patient
                if refused or self._pool is None or loop.time() > gives_up:
                    raise unavailable(error) from error
                if not isinstance(error, PoolExhausted):
                    self._outage.seen(error)
                await asyncio.sleep(0.2)
            except asyncpg.PostgresError as error:
                raise unavailable(error) from error

    async def run(self, unit: Unit[T], *, patient: bool = True) -> T:
        sent: list[tuple[PostgresTx, T]] = []  # a commit whose answer has not come

        async def once() -> tuple[T, set[tuple[str, str]]]:
            await reach("tx.begin")
            async with self._connection() as connection:
                if sent and await sent[0][0].came_through(connection):
                    tx, value = sent[0]
                else:
                    sent.clear()
                    tx = PostgresTx(connection, self.queries, None)  # type: ignore[arg-type]  # set on the next line but one
                    async with connection.transaction():
                        tx.now = await connection.fetchval(self.queries["now"].text)
                        value = await unit(tx)
                        await reach("tx.commit")
                        sent.append((tx, value))
            await reach("tx.committed")
            self._after(tx)
            return value, tx.gates

        value, gates = await self._again(once, patient=patient)
        await self._open_gates(gates)
        result: T = value
        return result

    async def _open_gates(self, gates: set[tuple[str, str]]) -> None:
        for queue, lane in sorted(gates):
            await self.run(partial(ledger.gate, queue=queue, lane=lane))

    def _after(self, tx: PostgresTx) -> None:
        self.ring([*sorted(tx.rings), *map(of_worker, tx.cancelled), *([EVENTS] if tx.wake_streams else [])])

    async def read(self, unit: Unit[T]) -> T:
        async def once() -> T:
            async with self._connection() as connection, connection.transaction(readonly=True):
                now = await connection.fetchval(self.queries["now"].text)
                return await unit(PostgresTx(connection, self.queries, now))

        result: T = await self._again(once, patient=False)
        return result

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[PostgresTx]:
        ending = False
        async with self._connection() as connection:
            try:
                async with connection.transaction():
                    now = await connection.fetchval(self.queries["now_for_guest"].text)
                    tx = PostgresTx(connection, self.queries, now, guest=True)
                    yield tx
                    ending = True
            except (asyncpg.PostgresError, *GONE) as error:
                if isinstance(error, CUT) or is_gone(connection):
                    connection.terminate()
                    raise lost_transaction(error, ending, self._idle_seconds) from error
                raise
            finally:
                await _clean(connection)
            self._after(tx)
        await self._open_gates(tx.gates)

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """One statement, no explicit transaction; only a taken key or a capped lane needs more."""
        name, params = ("insert_one", inserting.one(jobs[0])) if len(jobs) == 1 else ("insert_jobs", inserting.many(jobs))
        query = self.queries[name]
        values = [params[name] for name in query.names]

        async def once() -> tuple[Sequence[Any], PostgresTx]:
            async with self._connection() as connection:
                tx = PostgresTx(connection, self.queries, None)  # type: ignore[arg-type]  # nothing in it asks for the time
                rows = await connection.fetch(query.text, *values)
                tx.inserted(rows)
            if len(jobs) > 1:
                await reach("enqueue.committed")
            self._after(tx)
            return rows, tx

        rows, tx = await self._again(once, patient=False)
        await self._open_gates(tx.gates)
        if rows and (len(jobs) == 1 or all(row["added"] is None for row in rows)):
            return [Enqueued(job.id, True) for job in jobs]
        return await self.run(lambda tx: tx.finish_insert(jobs, rows))  # type: ignore[attr-defined]  # it is a PostgresTx

    async def claim(self, claim: Claim) -> ClaimedBatch:
        params = endings(()) | request(claim)

        async def capped() -> list[Any]:
            async def unit(tx: Any) -> list[Any]:
                room = await ledger.queue_room(tx, claim.queue, claim.limit)
                await reach("claim.counted")
                own = {"limit": room, "counted": True}
                rows = claimed_rows(await tx.fetch("turn", **params | own)) if room else []
                tx.wake_streams = bool(rows)
                return rows

            return await self.run(unit)

        async def plain() -> list[Any]:
            rows = claimed_rows(await self._send_turn(params))
            if rows:
                self.ring([EVENTS])
            return rows

        return ClaimedBatch(claim.queue, await (capped() if await self._is_capped(claim.queue) else self._again(plain)))

    async def _send_turn(self, params: dict[str, Any]) -> list[Any]:
        query = self.queries["turn"]
        async with self._connection() as connection:
            rows: list[Any] = await connection.fetch(query.text, *[params[name] for name in query.names])
        return rows

    async def _is_capped(self, queue: str) -> bool:
        """Whether the queue has a cap, remembered for a second: claims under a cap take turns at the queue's row. One
        that was set in that second is kept all the same: a plain claim takes nothing from a capped queue."""
        now = asyncio.get_running_loop().time()
        if now >= self._caps_until:

            async def once() -> list[Any]:
                async with self._connection() as connection:
                    return await connection.fetch(self.queries["capped_queues"].text)  # type: ignore[no-any-return]

            self._caps = {row["name"] for row in await self._again(once)}
            self._caps_until = now + 1.0
        return queue in self._caps

    async def advance(self, queue: str, floors: Mapping[int, float]) -> dict[int, float]:
        query = self.queries["advance"]
        bands = sorted(floors)
        params = {"queue": queue, "priorities": bands, "floors": [floors[band] for band in bands]}

        async def once() -> dict[int, float]:
            async with self._connection() as connection:
                rows = await connection.fetch(query.text, *[params[name] for name in query.names])
            return {row["priority"]: row["floor"] for row in rows}

        result: dict[int, float] = await self._again(once)
        return result

    async def settle(self, transitions: Sequence[Transition]) -> list[str | None]:
        verdicts: list[str | None] = [None] * len(transitions)
        plain = sorted(ledger.short_way(transitions), key=lambda index: transitions[index].job_id)
        done = await self._succeed([transitions[index] for index in plain]) if plain else set()
        settled = {index for index in plain if transitions[index].job_id in done}
        rest = [index for index in range(len(transitions)) if index not in settled]
        if rest:
            asked = [transitions[index] for index in rest]
            for index, verdict in zip(rest, await self.run(lambda tx: ledger.apply(tx, asked)), strict=True):
                verdicts[index] = verdict
            await self._recognise(transitions, verdicts)
        self._unsure.answered(transitions)
        return verdicts

    async def _recognise(self, transitions: Sequence[Transition], verdicts: list[str | None]) -> None:
        """A success that was refused because it is on record already, from a commit whose answer was lost, has happened."""
        refused = [one for one, verdict in zip(transitions, verdicts, strict=True) if verdict is not None]
        if sent := self._unsure.among(refused):
            done = await self.read(partial(ours, transitions=sent))
            for index, transition in enumerate(transitions):
                if transition in sent and transition.job_id in done:
                    verdicts[index] = None

    async def turn(self, transitions: Sequence[Transition], claim: Claim) -> tuple[list[str | None], ClaimedBatch]:
        if len(ledger.short_way(transitions)) < len(transitions) or await self._is_capped(claim.queue):
            verdicts = await self.settle(transitions)
            return verdicts, await claim_after(self, claim)
        params = endings(sorted(transitions, key=_BY_ID)) | request(claim)

        async def once() -> list[Any]:
            with self._unsure.sending(transitions):
                rows = await self._send_turn(params)
            self.ring([EVENTS])
            return rows

        rows = await self._again(once)
        jobs = ClaimedBatch(claim.queue, claimed_rows(rows))
        if rows[-1]["settled"] == len(transitions):
            self._unsure.answered(transitions)
            return [None] * len(transitions), jobs
        done = set(decode(rows[-1]["settled_ids"]) or ())
        return [None if transition.job_id in done else UNDECIDED for transition in transitions], jobs

    async def _succeed(self, transitions: Sequence[Transition]) -> set[str]:
        """A turn that takes nothing."""
        params = endings(transitions) | request(NOTHING)

        async def once() -> list[Any]:
            with self._unsure.sending(transitions):
                rows = await self._send_turn(params)
            self.ring([EVENTS])
            return rows

        [row] = await self._again(once)
        every = row["settled"] == len(transitions)
        return {transition.job_id for transition in transitions} if every else set(decode(row["settled_ids"]) or ())

    def heart(self) -> Heart:
        return PostgresHeart(self.url, self.queries)

    def heard(self, topic: str) -> None:
        if topic in (EVENTS, EVERYWHERE):
            self._pulse.beat()

    def follow(self) -> AsyncIterator[None]:
        self.followed()
        return self._pulse.follow(at_least_every=1.0)


_BY_ID = attrgetter("job_id")


def _nothing() -> None:
    """Nobody wants to know."""


async def _clean(connection: Any) -> None:
    """Whatever the caller may have set on it. The transaction has ended, one way or the other: a connection that cannot be
    cleaned is thrown away, and that is all."""
    if is_gone(connection):
        return
    try:
        await connection.reset()
    except (asyncpg.PostgresError, *GONE):
        connection.terminate()

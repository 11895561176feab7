"""The PostgreSQL store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

import asyncpg

from towpath.core.encoding import decode
from towpath.core.errors import StoreUnavailable
from towpath.core.points import reach
from towpath.core.records import Enqueued, Event, NewJob
from towpath.core.transitions import Transition
from towpath.store import ledger
from towpath.store.alike import alike
from towpath.store.contract import OPEN, Claim, Heart, Taken, Unit
from towpath.store.listeners import Pulse
from towpath.store.postgres.bell import EVENTS, PostgresBell
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
from towpath.store.postgres.outage import Outage
from towpath.store.postgres.parameters import endings, request
from towpath.store.postgres.pool import Lent, Pool
from towpath.store.postgres.tx import PostgresTx, alike_values, column_values, lock_lanes
from towpath.store.postgres.unsure import Unsure, ours
from towpath.store.slices import slice_end
from towpath.store.sql import engine_queries
from towpath.store.turning import claim_after

T = TypeVar("T")

_TRIES = 8
_OUTAGE_SECONDS = 60.0


class PostgresStore:
    dialect = "postgres"

    def __init__(self, url: str, *, pool_size: int = 10, checkout_seconds: float = 10.0, idle_seconds: float = 30.0) -> None:
        self.url = url
        self.queries = engine_queries("postgres")
        self._pulse = Pulse()
        self.bell = PostgresBell(url, self._pulse.beat)
        self.ring: Callable[[Iterable[str]], None] = self.bell.ring
        self._pool_size, self._checkout_seconds, self._idle_seconds = pool_size, checkout_seconds, idle_seconds
        self._pool: Pool | None = None
        self._outage, self._unsure = Outage(), Unsure()
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
        await self.bell.open()

    async def close(self) -> None:
        if self._pool is None:
            return
        pool, self._pool = self._pool, None
        await self.bell.close()
        await pool.close()

    def _connection(self) -> Lent:
        if self._pool is None:
            raise StoreUnavailable("the store is closed; open the app before using it")
        return Lent(self._pool, self._checkout_seconds, self._refusal)

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
                        tx.now = await connection.fetchval("SELECT now()")
                        value = await unit(tx)
                        await reach("tx.commit")
                        sent.append((tx, value))
            await reach("tx.committed")
            self._after(tx)
            return value, tx.gates

        value, gates = await self._again(once, patient=patient)
        await self._open(gates)
        result: T = value
        return result

    async def _open(self, gates: set[tuple[str, str]]) -> None:
        for queue, lane in sorted(gates):
            await self.run(partial(ledger.gate, queue=queue, lane=lane))

    def _after(self, tx: PostgresTx) -> None:
        self.ring(sorted(tx.rings) + [f"worker:{worker}" for worker in tx.cancelled])
        if tx.told:
            self.bell.ring([EVENTS])

    async def read(self, unit: Unit[T]) -> T:
        async def once() -> T:
            async with self._connection() as connection, connection.transaction(readonly=True):
                now = await connection.fetchval("SELECT now()")
                return await unit(PostgresTx(connection, self.queries, now))

        result: T = await self._again(once, patient=False)
        return result

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[PostgresTx]:
        ending = False
        async with self._connection() as connection:
            try:
                async with connection.transaction():
                    now = await connection.fetchval("SELECT now(), set_config('enable_seqscan', 'on', true)")
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
        await self._open(tx.gates)

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        if len(jobs) == 1:
            return await self._enqueue_one(jobs[0])
        if alike(jobs):
            return await self._enqueue_alike(jobs)
        return await self._enqueue_many(jobs)

    async def _enqueue_alike(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """One round trip."""
        query = self.queries["insert_alike"]
        params = alike_values(jobs, again=False)

        async def once() -> tuple[list[Enqueued], PostgresTx]:
            values = [params[name] for name in query.names]
            async with self._connection() as connection:
                params["again"] = True
                tx = PostgresTx(connection, self.queries, None)  # type: ignore[arg-type]  # nothing in it asks for the time
                made = tx.inserted_alike(jobs, await connection.fetchval(query.text, *values))
            self._after(tx)
            return made, tx

        made, tx = await self._again(once, patient=False)
        await self._open(tx.gates)
        return made or await self.run(lambda tx: tx.finish_insert(jobs, []))  # type: ignore[attr-defined,no-any-return]  # it is a PostgresTx

    async def _enqueue_many(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """`run` with `insert_jobs`, in three round trips instead of five: beginning and locking are one, and nothing in
        it needs to know the time."""

        async def once() -> tuple[list[Enqueued], PostgresTx]:
            await reach("tx.begin")
            async with self._connection() as connection:
                tx = PostgresTx(connection, self.queries, None)  # type: ignore[arg-type]  # see above
                try:
                    await connection.execute(f"BEGIN; {lock_lanes(jobs)}")
                    await reach("enqueue.locked")
                    made = await tx.insert_locked(jobs)
                    await reach("tx.commit")
                    await connection.execute("COMMIT;")
                except BaseException:
                    if connection.is_in_transaction():
                        await connection.execute("ROLLBACK")
                    raise
            await reach("tx.committed")
            self._after(tx)
            return made, tx

        made, tx = await self._again(once, patient=False)
        await self._open(tx.gates)
        result: list[Enqueued] = made
        return result

    async def _enqueue_one(self, job: NewJob) -> list[Enqueued]:
        """One statement, no explicit transaction; only a taken key or a capped lane needs more."""
        query = self.queries["insert_one"]
        columns = column_values(job)
        values = [columns[name] for name in query.names]

        async def once() -> list[Enqueued]:
            async with self._connection() as connection:
                rows = await connection.fetch(query.text, *values)
                if rows and rows[0]["ready"]:
                    self.ring([job.queue])
                    self.bell.ring([EVENTS])
                    return [Enqueued(job.id, created=True)]
            return await self.run(lambda tx: tx.finish_insert([job], rows))  # type: ignore[attr-defined]

        result: list[Enqueued] = await self._again(once, patient=False)
        return result

    async def claim(self, claim: Claim) -> Taken:
        params = request(claim)
        query = self.queries["claim"]

        async def capped() -> list[Any]:
            async def unit(tx: Any) -> list[Any]:
                room = await ledger.queue_room(tx, claim.queue, claim.limit)
                await reach("claim.counted")
                own = {"limit": room, "counted": True, "lease_id": claim.next_try()}
                rows = await tx.fetch("claim", **params | own) if room else []
                tx.told = bool(rows)
                return rows

            return await self.run(unit)

        async def plain() -> list[Any]:
            params["lease_id"] = claim.next_try()
            async with self._connection() as connection:
                rows: list[Any] = await connection.fetch(query.text, *[params[name] for name in query.names])
                if rows:
                    self.bell.ring([EVENTS])
                return rows

        return Taken(claim.queue, await (capped() if await self._is_capped(claim.queue) else self._again(plain)))

    async def _is_capped(self, queue: str) -> bool:
        """Whether the queue has a cap, remembered for a second: claims under a cap take turns at the queue's row. One
        that was set in that second is kept all the same: a plain claim takes nothing from a capped queue."""
        now = asyncio.get_running_loop().time()
        if now >= self._caps_until:

            async def once() -> list[Any]:
                async with self._connection() as connection:
                    return await connection.fetch("SELECT name FROM towpath.queue WHERE max_slots IS NOT NULL")  # type: ignore[no-any-return]

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

    async def turn(self, transitions: Sequence[Transition], claim: Claim) -> tuple[list[str | None], Taken]:
        if len(ledger.short_way(transitions)) < len(transitions) or await self._is_capped(claim.queue):
            verdicts = await self.settle(transitions)
            return verdicts, await claim_after(self, claim)
        params = endings(sorted(transitions, key=_BY_ID)) | request(claim)
        query = self.queries["turn"]

        async def once() -> list[Any]:
            params["lease_id"] = claim.next_try()
            async with self._connection() as connection:
                with self._unsure.sending(transitions):
                    rows: list[Any] = await connection.fetch(query.text, *[params[name] for name in query.names])
            self.bell.ring([EVENTS])
            return rows

        rows = await self._again(once)
        told = rows.pop()
        jobs = Taken(claim.queue, rows)
        if told["attempt"] == len(transitions):
            self._unsure.answered(transitions)
            return [None] * len(transitions), jobs
        done = set(decode(told["more"]) or ())
        return [None if transition.job_id in done else OPEN for transition in transitions], jobs

    async def _succeed(self, transitions: Sequence[Transition]) -> set[str]:
        query = self.queries["succeed_many"]
        params = endings(transitions)

        async def once() -> set[str]:
            async with self._connection() as connection:
                with self._unsure.sending(transitions):
                    rows = await connection.fetch(query.text, *(params[name] for name in query.names))
            self.bell.ring([EVENTS])
            return {row["id"] for row in rows}

        result: set[str] = await self._again(once)
        return result

    def heart(self) -> Heart:
        return PostgresHeart(self.url, self.queries)

    async def stream_start(self) -> str:
        return await self.read(_snapshot)

    async def stream_since(self, cursor: str, limit: int = 5000) -> tuple[list[Event], str, bool]:
        """A cursor is a snapshot, or `since|upto|k`: the first k events between two snapshots have been seen."""
        since, upto, seen = _parse(cursor)

        async def unit(tx: Any) -> tuple[list[Event], str, bool]:
            goal = await _snapshot(tx)
            until = upto or await slice_end(tx, since, goal, limit)
            rows = await tx.fetch("stream", since=since, upto=until, limit=limit, skip=seen)
            events = [
                Event(
                    str(row["job_id"]), row["seq"], row["attempt"], row["name"], row["level"], row["message"],
                    decode(row["fields"]), row["ts"], token=f"{since}|{until}|{seen + number}",
                )
                for number, row in enumerate(rows, 1)
            ]  # fmt: skip
            if len(rows) < limit:
                return events, until, until != goal
            return events, f"{since}|{until}|{seen + len(rows)}", True

        return await self.read(unit)

    def follow(self) -> AsyncIterator[None]:
        return self._pulse.follow(at_least_every=1.0)


_BY_ID = attrgetter("job_id")


async def _clean(connection: Any) -> None:
    """Whatever the caller may have set on it. The transaction has ended, one way or the other: a connection that cannot be
    cleaned is thrown away, and that is all."""
    if is_gone(connection):
        return
    try:
        await connection.reset()
    except (asyncpg.PostgresError, *GONE):
        connection.terminate()


async def _snapshot(tx: Any) -> str:
    return str((await tx.fetch("snapshot"))[0]["cursor"])


def _parse(cursor: str) -> tuple[str, str | None, int]:
    parts = cursor.split("|")
    return (parts[0], parts[1], int(parts[2])) if len(parts) == 3 else (cursor, None, 0)

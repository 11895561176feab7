"""An open store and short words for what its tests do with it, the same on both databases."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from tests.soundness import batched_events, unsound
from towpath.config import Settings
from towpath.core.encoding import decode
from towpath.core.history import differences, fold
from towpath.core.ids import uuid7
from towpath.core.records import Event, Job, NewJob, WorkerRow
from towpath.core.transitions import Transition
from towpath.store import ledger
from towpath.store.contract import Claim, Claimed, Store, Tx
from towpath.store.migrating import ENGINE, Slice, migrate
from towpath.wiring import make_store

PATIENCE = 20.0  # seconds after which a wait in a test has failed; never a measure of speed


def new_job(operation: str = "op", queue: str = "q", payload_json: str = "null", **fields: Any) -> NewJob:
    tenant = fields.pop("tenant", "default")
    return NewJob(uuid7(), operation, queue, payload_json, tenant=tenant, **{"lane": tenant, **fields})


def worker_row(worker_id: str = "w") -> WorkerRow:
    return WorkerRow(worker_id, "a worker", ["q"], ["op"], 4, version="test")


class Hands:
    """What a test does to a store: the engine's own calls, and looks behind them."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def enqueue(self, *jobs: NewJob, **fields: Any) -> str:
        made = await self.store.enqueue(jobs or [new_job(**fields)])
        return made[0].id

    async def enqueue_many(self, count: int, **fields: Any) -> list[str]:
        return [one.id for one in await self.store.enqueue([new_job(**fields) for _ in range(count)])]

    async def claim(self, limit: int = 100, worker: str = "w", queue: str = "q", lease: float = 30.0) -> list[Claimed]:
        return (await self.store.claim(Claim(queue, limit, worker, lease))).jobs

    async def start(self, **fields: Any) -> Claimed:
        """A job that is running."""
        await self.enqueue(**fields)
        [claimed] = await self.claim(1, queue=fields.get("queue", "q"))
        return claimed

    async def settle(self, *transitions: Transition) -> list[str | None]:
        return await self.store.settle(transitions)

    async def apply(self, *transitions: Transition) -> list[str | None]:
        return await self.store.run(lambda tx: ledger.apply(tx, transitions))

    async def job(self, job_id: str) -> Job:
        [job] = await self.jobs(job_id)
        return job

    async def jobs(self, *ids: str) -> list[Job]:
        return await self.store.read(lambda tx: tx.jobs("jobs_by_id", ids=list(ids)))

    async def all_jobs(self) -> list[Job]:
        async def unit(tx: Tx) -> list[Job]:
            rows = await tx.fetch_sql(f"SELECT id FROM {self.table('job')}")
            return await tx.jobs("jobs_by_id", ids=[str(row["id"]) for row in rows])

        return await self.store.read(unit)

    async def events(self, job_id: str) -> list[Event]:
        rows = await self.store.read(lambda tx: tx.fetch("job_events", job_id=job_id, after=0, limit=1000))
        return [
            Event(
                str(r["job_id"]), r["seq"], r["attempt"], r["name"], r["level"], r["message"], decode(r["fields"]), r["ts"]
            )
            for r in rows
        ]

    async def names(self, job_id: str) -> list[str]:
        return [event.name for event in await self.events(job_id)]

    async def assert_truthful(self, *ids: str) -> None:
        for job in await self.jobs(*ids) if ids else await self.all_jobs():
            assert differences(job, fold(await self.events(job.id))) == [], job.id

    async def assert_sound(self) -> None:
        rows = await self.store.read(lambda tx: tx.fetch_sql(unsound(tx.dialect)))
        assert [(str(row["id"]), row["broken"]) for row in rows] == []

    async def count(self, table: str, where: str = "1 = 1") -> int:
        rows = await self.sql(f"SELECT count(*) AS n FROM {self.table(table)} WHERE {where}")
        return int(rows[0]["n"])

    async def sql(self, text: str) -> Sequence[Any]:
        return await self.store.run(lambda tx: tx.fetch_sql(text))

    async def batched_events(self, job_id: str | None = None) -> list[tuple[str, int]]:
        """The events that batches list for streams, of all jobs that are there or of one: whose they are, and which."""
        where = "1 = 1" if job_id is None else f"job_id = '{job_id}'"
        rows = await self.sql(f"SELECT job_id, seq FROM {batched_events(self.store.dialect)} WHERE {where}")
        return [(str(row["job_id"]), row["seq"]) for row in rows]

    def table(self, name: str) -> str:
        return f"towpath_{name}" if self.store.dialect == "sqlite" else f"towpath.{name}"

    async def shift(self, column: str, seconds: float, *ids: str) -> None:
        """Moves a moment of some jobs, which is the same as waiting, and quicker."""
        moved = f"{column} + {seconds}" if self.store.dialect == "sqlite" else f"{column} + interval '{seconds} seconds'"
        named = ", ".join(f"'{job_id}'" for job_id in ids)
        await self.sql(f"UPDATE {self.table('job')} SET {column} = {moved} WHERE id IN ({named}) RETURNING 1 AS done")

    async def run_out(self, *ids: str) -> None:
        """Lets the leases of some jobs run out."""
        await self.shift("lease_until", -86400.0, *ids)

    async def queue(self, name: str = "q", *, paused: bool = False, max_slots: int | None = None) -> None:
        paused_at = await self.store.read(_now) if paused else None
        await self.store.run(
            lambda tx: tx.execute("put_queue", name=name, paused=paused, paused_at=paused_at, max_slots=max_slots)
        )
        # PostgreSQL remembers for a second which queues have a cap.
        if hasattr(self.store, "_caps_until"):
            self.store._caps_until = float("-inf")

    async def lane(self, lane: str = "default", queue: str = "q", **settings: Any) -> None:
        values = {"weight": 1.0, "max_slots": None, "max_roots": None} | settings
        await self.store.run(lambda tx: ledger.set_lane(tx, queue, lane, **values))


async def _now(tx: Tx) -> Any:
    return tx.now


@asynccontextmanager
async def opened(url: str, *, slices: Sequence[Slice] = (ENGINE,), **options: Any) -> AsyncIterator[Hands]:
    store = make_store(url, dataclasses.replace(Settings(), **options))
    await store.open()
    try:
        await store.bell.open()
        await migrate(store, slices)
        hands = Hands(store)
        yield hands
        await hands.assert_sound()
    finally:
        await store.bell.close()
        await store.close()


async def until(condition: Callable[[], Any], what: str) -> None:
    """Waits for something that other code brings about; fails with words if it never comes."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not condition():  # noqa: ASYNC110  (what happens out there sets no event of ours)
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"never happened: {what}") from None


AN_HOUR = timedelta(hours=1)

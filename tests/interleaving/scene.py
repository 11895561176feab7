"""What one order of events is played on: a queue of its own, the verbs as short calls, and the checks afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tests.interleaving.harness import Director
from tests.interleaving.history import violations
from tests.soundness import unsound
from towpath import App
from towpath.core import transitions
from towpath.core.ids import uuid7
from towpath.core.outcomes import Failure
from towpath.core.records import Event, Job, NewJob
from towpath.core.transitions import Transition
from towpath.engine.asking.listing import list_jobs
from towpath.engine.asking.reading import event_from
from towpath.engine.tending import janitor
from towpath.engine.tending.rollups import roll_up
from towpath.store import journal, ledger
from towpath.store.contract import Claim, Claimed, Tx

BROKEN = Failure("fatal", "Fatal", "it broke", "mend it")
_ROUNDS = 30

_TEN_DAYS_BACK = {
    "sqlite": "UPDATE towpath_{0} SET {1} = {1} - 864000 WHERE queue = ? AND {1} IS NOT NULL",
    "postgres": "UPDATE towpath.{0} SET {1} = {1} - interval '10 days' WHERE queue = $1 AND {1} IS NOT NULL",
}
_TABLES = {"sqlite": ("towpath_", "?"), "postgres": ("towpath.", "$1")}


class Scene:
    def __init__(self, app: App, queue: str, director: Director) -> None:
        self.app, self.services, self.store = app, app.services, app.services.store
        self.queue, self._director = queue, director

    @property
    def order(self) -> str:
        return "; ".join(self._director.trace)

    @property
    def waited(self) -> set[str]:
        return self._director.waited

    @property
    def again(self) -> int:
        return self._director.again

    async def together(self, **acts: Callable[[], Awaitable[Any]]) -> dict[str, Any]:
        """Runs the actors in this scene's order; answers what each returned. An exception counts as an answer."""
        return await self._director.perform(acts)

    # -- putting jobs on the stage

    def new(self, **fields: Any) -> NewJob:
        return NewJob(**({"id": uuid7(), "operation": "work", "queue": self.queue, "payload_json": "null"} | fields))

    async def add(self, **fields: Any) -> str:
        [made] = await self.store.enqueue([self.new(**fields)])
        return made.id

    async def claim(self, limit: int = 1, *, worker: str = "worker", lease: float = 600.0) -> list[Claimed]:
        return (await self.store.claim(Claim(self.queue, limit, worker, lease))).jobs

    async def running(self, *, lease: float = 600.0, **fields: Any) -> Claimed:
        """A job that a worker has just begun; a lease below zero has run out already."""
        await self.add(**fields)
        [job] = await self.claim(lease=lease)
        return job

    async def fan_out(self, parent: Claimed, children: int, *, awaited: bool, group: str = "g", **fields: Any) -> list[str]:
        new = self.offspring(parent, children, group, **fields)
        await self.store.run(self.fan_out_unit(parent, new, awaited, group))
        return [child.id for child in new]

    def offspring(self, parent: Claimed, children: int, group: str = "g", **fields: Any) -> list[NewJob]:
        lineage = {"parent_id": parent.id, "root_id": parent.root_id, "child_group": group, "operation": "child"}
        return [self.new(**(lineage | fields)) for _ in range(children)]

    @staticmethod
    def fan_out_unit(
        parent: Claimed, new: list[NewJob], awaited: bool = False, group: str = "g"
    ) -> Callable[[Tx], Awaitable[Any]]:
        kind = "gather" if awaited else "spawn"
        return lambda tx: journal.fan_out(
            tx, parent.id, parent.attempt, kind=kind, name=group, children=new, awaited=awaited
        )

    async def family(self, children: int, *, awaited: bool = False) -> tuple[Claimed, list[Claimed]]:
        """A parent that waits for its running children: for a gather, or to be closed by the last one."""
        parent = await self.running(operation="parent")
        await self.fan_out(parent, children, awaited=awaited)
        await self.settle(self.deferral(parent, "children") if awaited else self.closing(parent))()
        return parent, await self.claim(children)

    # -- the verbs, as actors

    def settle(self, *asked: Transition) -> Callable[[], Awaitable[list[str | None]]]:
        return lambda: self.store.settle(list(asked))

    def apply(self, *asked: Transition) -> Callable[[], Awaitable[list[str | None]]]:
        return lambda: self.store.run(lambda tx: ledger.apply(tx, list(asked)))

    def succeed(self, job: Claimed, result: str = '"done"') -> Callable[[], Awaitable[list[str | None]]]:
        return self.settle(transitions.succeed(job.id, job.attempt, result, solo=job.solo))

    def fail(self, job: Claimed) -> Callable[[], Awaitable[list[str | None]]]:
        return self.settle(transitions.fail(job.id, job.attempt, BROKEN))

    def cancel(self, job_id: str) -> Callable[[], Awaitable[list[str | None]]]:
        return self.apply(transitions.cancel(job_id))

    def requeue(self, job_id: str) -> Callable[[], Awaitable[list[str | None]]]:
        return self.apply(transitions.requeue(job_id))

    def rescue(self) -> Callable[[], Awaitable[int]]:
        return lambda: janitor.rescue(self.services)

    def expire(self) -> Callable[[], Awaitable[int]]:
        return lambda: janitor.expire(self.services)

    def enqueue(self, *new: NewJob) -> Callable[[], Awaitable[Any]]:
        return lambda: self.store.enqueue(list(new))

    def insert(self, *new: NewJob) -> Callable[[], Awaitable[Any]]:
        """The same in a transaction, which can be paused between its lock, its insert and its commit."""
        return lambda: self.store.run(lambda tx: tx.insert_jobs(list(new)))

    def claiming(self, limit: int, worker: str) -> Callable[[], Awaitable[list[Claimed]]]:
        return lambda: self.claim(limit, worker=worker)

    def spawn(self, parent: Claimed, children: int) -> Callable[[], Awaitable[Any]]:
        new = self.offspring(parent, children)
        return lambda: self.store.run(self.fan_out_unit(parent, new))

    def signal(self, job_id: str, name: str = "go") -> Callable[[], Awaitable[None]]:
        number = uuid7()
        return lambda: self.store.run(lambda tx: journal.send_signal(tx, job_id, name, "1", number))

    def gate(self, lane: str = "default") -> Callable[[], Awaitable[int]]:
        return lambda: self.store.run(lambda tx: ledger.gate(tx, self.queue, lane))

    def set_lane(self, lane: str = "default", **caps: int | None) -> Callable[[], Awaitable[None]]:
        settings = {"max_slots": None, "max_roots": None} | caps
        return lambda: self.store.run(lambda tx: ledger.set_lane(tx, self.queue, lane, weight=1.0, **settings))

    @staticmethod
    def deferral(job: Claimed, reason: str, *, wakes_seen: int = 0, **fields: Any) -> Transition:
        return transitions.defer(
            job.id, job.attempt, reason, wakes_seen=wakes_seen, **({"deadline": None, "max_wait": 3600.0} | fields)
        )

    @staticmethod
    def closing(job: Claimed) -> Transition:
        return transitions.close_with_children(job.id, job.attempt, None, 3600.0)

    # -- looking

    async def job(self, job_id: str) -> Job:
        [found] = await self.store.read(lambda tx: tx.jobs("jobs_by_id", ids=[job_id]))
        return found

    async def jobs(self) -> list[Job]:
        return await list_jobs(self.store, queue=self.queue, limit=1000)

    async def events(self, job_id: str | None = None) -> list[Event]:
        prefix, mark = _TABLES[self.store.dialect]
        text = (
            f"SELECT event.job_id, event.seq, event.attempt, event.name, event.level, event.message, event.fields, event.ts "
            f"FROM {prefix}job_event AS event JOIN {prefix}job AS job ON job.id = event.job_id WHERE job.queue = {mark}"
        )
        rows = await self.store.read(lambda tx: tx.fetch_sql(text, self.queue))
        return [event_from(row) for row in rows if job_id in (None, str(row["job_id"]))]

    async def named(self, job_id: str, *names: str) -> int:
        return sum(event.name in names for event in await self.events(job_id))

    # -- afterwards

    async def check(self) -> None:
        broken = violations(await self.jobs(), await self.events()) + await self._unsound() + await self._miscounted()
        assert not broken, "\n".join(broken)

    async def _unsound(self) -> list[str]:
        rows = await self.store.read(lambda tx: tx.fetch_sql(unsound(tx.dialect)))
        return [f"{row['id']}: {row['broken']}" for row in rows]

    async def _miscounted(self) -> list[str]:
        """The depths that pages show, against the rows themselves."""
        while await roll_up(self.store):
            pass
        rows = await self.store.read(lambda tx: tx.fetch("depths"))
        shown = next((row for row in rows if row["queue"] == self.queue), {"queued": 0, "running": 0, "waiting": 0})
        states = [job.state.value for job in await self.jobs()]
        return [
            f"the rollups say {shown[name]} {name}, really {states.count(name)}"
            for name in ("queued", "running", "waiting")
            if shown[name] != states.count(name)
        ]

    async def drain(self) -> None:
        """Lets time pass and a plain worker work: whatever happened before, every job comes to an end."""
        for _ in range(_ROUNDS):
            jobs = await self.jobs()
            if all(job.ended and not job.leased for job in jobs):
                return
            await self.let_time_pass()
            await self.store.run(lambda tx: ledger.promote_due(tx, 1000))
            await janitor.rescue(self.services)
            await janitor.expire(self.services)
            for lane in {job.lane for job in jobs if job.gate}:
                await self.gate(lane)()
            await self._work(await self.claim(1000))
        left = [f"{job.operation} is {job.state.value} ({job.reason})" for job in jobs if not job.ended or job.leased]
        raise AssertionError(f"after everything else has ended, these never do: {', '.join(left)}")

    async def _work(self, jobs: Sequence[Claimed]) -> None:
        for job in jobs:
            [refused] = await self.succeed(job)()
            assert refused is None, f"nobody interfered, and still its end was refused: {refused}"

    async def let_time_pass(self) -> None:
        """Whatever was to happen within ten days is due now."""
        await self._move_back("run_at", "deadline", "lease_until")

    async def grow_old(self) -> None:
        """Whatever has ended did so ten days ago."""
        await self._move_back("finished_at")

    async def _move_back(self, *columns: str) -> None:
        async def unit(tx: Tx) -> None:
            for column in columns:
                await tx.execute_sql(_TEN_DAYS_BACK[tx.dialect].format("job", column), self.queue)

        await self.store.run(unit)

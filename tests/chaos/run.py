"""One chaos run: a database, a witness, a client in this process, and a fleet of others."""

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from tests.chaos.checker import judge
from tests.chaos.client import Client
from tests.chaos.history import History, between_two_messages, live_workers, load, unsettled, unsound_rows
from tests.chaos.processes import Fleet, Member
from tests.chaos.witness import Sighting, Witness, testimony
from tests.chaos.workload import FAIR, LEASE_SECONDS, make_app, set_caps


class Run:
    """`async with Run(url, directory) as run`: opens the database, sets the caps; ends every process on the way out."""

    def __init__(self, url: str, directory: Path, *, seed: int = 0, lease: float = LEASE_SECONDS, **settings: Any) -> None:
        self.url, self.directory, self.seed, self.lease = url, directory, seed, lease
        self.witness = Witness(directory / "witness.jsonl")
        self.app = make_app(url, self.witness, lease_seconds=lease, **settings)
        self.client = Client(self.app, self.witness, seed)
        self.fleet = Fleet(url, directory, self.witness)

    async def __aenter__(self) -> Self:
        await self.app.open()
        await set_caps(self.app)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.fleet.__exit__()
        await self.app.close()
        self.witness.close()

    def sightings(self, *kinds: str) -> list[Sighting]:
        return [sighting for sighting in testimony(self.witness.path) if sighting.kind in kinds]

    async def until(self, condition: Callable[[], Any], what: str, seconds: float = 20.0) -> Any:
        """Polls for something that another process does; answers what the condition answered."""
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            if time.monotonic() > deadline:
                raise AssertionError(f"within {seconds:g} s it did not happen that {what}\n{self.fleet.outputs()}")
            await asyncio.sleep(0.02)
        return found

    async def until_seen(self, kind: str, job_id: str | None = None, *, by: Member | None = None) -> Sighting:
        def look() -> Sighting | None:
            for sighting in self.sightings(kind):
                if job_id in (None, sighting.job) and (by is None or sighting.pid == by.pid):
                    return sighting
            return None

        found: Sighting = await self.until(look, f"{by.name if by else 'somebody'} saw {kind} {job_id or ''}")
        return found

    def seen(self, kind: str) -> int:
        return len(self.sightings(kind))

    async def until_more(self, kind: str, number: int, *, than: int) -> None:
        """Until so many more were seen than before the work was handed in: counted later, it may all be done already."""
        await self.until(lambda: self.seen(kind) >= than + number, f"{number} more {kind} were seen")

    async def freeze(self, operation: str, payload: dict[str, Any] | None = None, **options: Any) -> tuple[str, Member]:
        """A new job, and the worker that froze when it had run it and not yet settled it."""
        for _ in range(20):
            job_id = await self.client.enqueue(operation, payload)
            worker = self.fleet.worker(freeze="worker.ran:1", **options)
            await self.until(lambda worker=worker: worker.frozen, "the worker froze")
            if await self.unhindered():
                return job_id, worker
            worker.resume()
            worker.terminate()
            await asyncio.to_thread(worker.wait, 20)
        raise AssertionError("it was never caught outside a transaction")

    async def unhindered(self) -> bool:
        """Whether processes that are frozen now hold nobody up; else the freeze fell into a transaction.

        On SQLite a process stopped in the middle of a commit keeps the file's lock. On PostgreSQL the server ends a
        transaction that rests, but one that was stopped between preparing a statement and running it is active to the
        server, and none of its timeouts but PostgreSQL 17's transaction_timeout touches it.
        """
        if not self.url.startswith("sqlite:"):
            return not between_two_messages(self.url)
        try:
            async with asyncio.timeout(0.3):
                await self.app.queues.resume("elsewhere")  # any write will do
        except TimeoutError:
            return False
        return True

    async def quiesce(self, seconds: float = 40.0) -> None:
        """Waits until nothing is live, leased or due to fire. Jobs that wait for a signal get it, so that they can end."""
        deadline = time.monotonic() + seconds
        while rows := unsettled(self.url):
            for row in rows:
                if row["state"] == "waiting" and row["reason"] == "signal":
                    await self.client.signal(str(row["id"]))
            if time.monotonic() > deadline:
                stuck = "\n".join(map(str, rows[:20]))
                raise AssertionError(
                    f"{len(rows)} jobs have not ended after {seconds:g} s:\n{stuck}\n{self.fleet.inquest()}"
                )
            await asyncio.sleep(0.05)

    async def make_due(self, schedule: str, moment: datetime) -> None:
        """Moves a schedule's next time, as if that time had come; the slot it opens must fire exactly once."""
        async with self.app.transaction() as tx:
            if self.url.startswith("sqlite:"):
                change = "UPDATE towpath_schedule SET next_fire = ? WHERE name = ?"
                await tx.execute(change, moment.timestamp(), schedule)
            else:
                await tx.execute("UPDATE towpath.schedule SET next_fire = $1 WHERE name = $2", moment, schedule)
        self.witness.tell("slot", key=f"schedule {schedule} {moment.isoformat()}")

    def unstopped_workers(self) -> list[str]:
        """Processes of the fleet that have ended by themselves and whose worker's row does not know it."""
        ended = {member.pid for member in self.fleet.members if member.returncode == 0}
        return [name for name in live_workers(self.url) if int(name.rsplit("-", 1)[-1]) in ended]

    def history(self) -> History:
        return load(self.url, self.witness.path, **self._rules())

    def judge(self) -> History:
        assert unsound_rows(self.url) == []
        return judge(self.url, self.witness.path, **self._rules())

    def _rules(self) -> dict[str, Any]:
        return {"lease_seconds": self.lease, "fair_queues": frozenset({FAIR})}

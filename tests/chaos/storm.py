"""Everything at once, at random and from a seed: what `make chaos` repeats for as long as it is given."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.chaos.faults import CLIENT_POINTS, WORKER_POINTS
from tests.chaos.processes import Member
from tests.chaos.run import Run
from tests.chaos.workload import SCHEDULES
from tests.services.postgres import PostgresServer

_WORKERS = 3
_LONGEST_PAUSE = 2.5  # two and a half leases: long enough to become a zombie


class Storm:
    def __init__(self, run: Run, server: PostgresServer | None = None, bug: str | None = None) -> None:
        self._run, self._server = run, server
        self._dice = random.Random(run.seed)
        self._options: dict[str, Any] = {"bug": bug} if bug else {}
        self._workers: list[Member] = []
        self._may_freeze: list[Member] = []
        self._pauses: set[asyncio.Task[None]] = set()
        self._schedules = list(SCHEDULES)
        self.faults: Counter[str] = Counter()

    async def blow(self, seconds: float) -> None:
        """Feeds and breaks things for so long, then lets everything heal and end."""
        self._workers = [self._worker() for _ in range(_WORKERS)]
        await self._run.until(lambda: len(self._run.sightings("worker")) >= _WORKERS, "the workers were up")
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            await self._run.client.feed()
            for _ in range(self._dice.randrange(1, 4)):
                await self._break_something()
                await asyncio.sleep(self._dice.uniform(0.0, 0.4))
            await self._run.client.meddle(6)
        await self._heal()

    async def _heal(self) -> None:
        await asyncio.gather(*self._pauses)
        for worker in self._run.fleet.alive:
            if worker in self._may_freeze:  # it may come to its point later than anybody is there to wake it
                await self._ended(worker)
        self._replace_the_dead()
        self._worker()  # its first look at the schedules is now; the others may sleep until the next time they know of
        await self._run.quiesce(150)

    def _worker(self, **options: Any) -> Member:
        if self._server is not None and not options and self._dice.random() < 0.2:
            options = {"twice": 1}
        return self._run.fleet.worker(concurrency=self._dice.randrange(1, 7), **self._options, **options)

    def _replace_the_dead(self) -> None:
        self._workers = [worker for worker in self._workers if worker.alive]
        while len(self._workers) < _WORKERS:
            self._workers.append(self._worker())

    async def _break_something(self) -> None:
        faults: dict[Callable[[], Awaitable[None]], int] = {
            self._kill: 6,
            self._die_at_a_point: 6,
            self._kill_a_client: 3,
            self._terminate: 3,
            self._pause: 3,
            self._freeze_with_a_result: 3,
            self._open_a_slot: 1,
            self._restart_the_server: 1 if self._server else 0,
        }
        [fault] = self._dice.choices(list(faults), list(faults.values()))
        self.faults[fault.__name__.strip("_").replace("_", " ")] += 1
        await fault()
        self._replace_the_dead()

    async def _kill(self) -> None:
        self._dice.choice(self._workers).kill()

    async def _die_at_a_point(self) -> None:
        """Replaces a worker by one that will die at a point; it may do so now or long after."""
        await self._ended(self._dice.choice(self._workers))
        point = self._dice.choice(list(WORKER_POINTS))
        self._workers.append(self._worker(die=f"{point}:{self._dice.randrange(1, 30)}"))

    async def _kill_a_client(self) -> None:
        point, _ = self._dice.choice(list(CLIENT_POINTS.items()))
        client = self._run.fleet.client(die=f"{point}:{self._dice.randrange(1, 20)}", seed=self._dice.randrange(1000))
        await asyncio.to_thread(client.wait, 60)

    async def _terminate(self) -> None:
        await self._ended(self._dice.choice(self._workers))

    async def _ended(self, worker: Member) -> None:
        """Told to stop, as in a deployment. One that is paused just now, or freezes on its way out, has to be woken."""
        worker.terminate()
        while worker.alive:
            worker.resume()
            await asyncio.sleep(0.1)

    async def _pause(self) -> None:
        worker = self._dice.choice(self._workers)
        worker.pause()
        self._resume_later(worker, self._dice.uniform(0.2, _LONGEST_PAUSE))

    async def _freeze_with_a_result(self) -> None:
        """A worker stops dead between its handler's end and the settle, and comes back when others have the job."""
        worker = self._worker(freeze=f"worker.ran:{self._dice.randrange(1, 10)}")
        self._workers.append(worker)
        self._may_freeze.append(worker)
        self._resume_later(worker, self._dice.uniform(1.0, 2 * _LONGEST_PAUSE))

    def _resume_later(self, worker: Member, seconds: float) -> None:
        async def resume() -> None:
            await asyncio.sleep(seconds)
            worker.resume()

        task = asyncio.create_task(resume())
        self._pauses.add(task)
        task.add_done_callback(self._pauses.discard)

    async def _open_a_slot(self) -> None:
        if self._schedules:
            await self._run.make_due(self._schedules.pop(), datetime.now(UTC) - timedelta(seconds=5))

    async def _restart_the_server(self) -> None:
        assert self._server is not None
        if self._dice.random() < 0.5:
            await asyncio.to_thread(self._server.restart, "immediate")
        else:
            await asyncio.to_thread(self._server.kill)
            await asyncio.to_thread(self._server.start)

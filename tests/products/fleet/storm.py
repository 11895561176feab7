"""A fleet in bad weather, and the checker of what must hold afterwards.

    python -m tests.products.fleet.storm --tasks 10000 --seed 7

Real PostgreSQL, a real object store and real queues; two orchestrators as processes, of which one is killed again and again;
workers whose messages are lost, doubled and reordered one time in ten, and whose URLs end before they begin. Some tasks are
cancelled. Every task has to end once, as its history says, and every result has to be the one that its input makes.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from tests.products.fleet.harbour import ENDED, PROGRAM, Bucket, Lanes
from tests.products.fleet.operations import SHOUT
from tests.services.postgres import PostgresServer
from tests.services.sqs import SqsServer
from tests.services.weed import BUCKET, WeedServer
from towpath import App, Settings, State, fleet
from towpath.core.history import differences, fold
from towpath.fleet import moving, stored
from towpath.fleet.messages import HandedTask, StatusReport, WorkerReport
from towpath.fleet.node.channel import Answer
from towpath.fleet.node.node import Node
from towpath.fleet.node.over_queues import OverQueues
from towpath.fleet.records import Dispatch
from towpath.fleet.views import TaskView, views

ROOT = Path(__file__).parents[3]
ODDS = 0.1
MOST_ATTEMPTS = 60


class Unruly(OverQueues):
    """Queues that lose, double and reorder one message in ten."""

    def __init__(self, lanes: Lanes, chance: random.Random) -> None:
        super().__init__(lanes.work.url, lanes.status.url)
        self._chance, self._late = chance, []  # type: ignore[var-annotated]  # bodies of reports
        self._again: list[HandedTask] = []

    async def claim(self, worker: WorkerReport, wait_seconds: float) -> HandedTask | None:
        if self._again:
            return self._again.pop()
        task = await super().claim(worker, wait_seconds)
        if task is None:
            return None
        fate = self._chance.random()
        if fate < ODDS:
            await self.acknowledged(task)
            return None  # lost
        if fate < 2 * ODDS:
            self._again.append(task)
        return task.model_copy(update={"urls_until": 0.0}) if fate > 1 - ODDS / 2 else task

    async def report(self, report: StatusReport) -> Answer:
        body, fate = report.model_dump_json(exclude_none=True), self._chance.random()
        if fate < ODDS:
            return Answer()  # lost
        if fate < 2 * ODDS:
            self._late.append(body)
            return Answer()
        await self._send(body)
        if fate < 3 * ODDS:
            await self._send(body)
        while self._late:
            await self._send(self._late.pop())
        return Answer()


@dataclass
class Weather:
    """What a storm is made of."""

    tasks: int
    kills: int
    seed: int
    cancels: float = 0.05


@dataclass
class Verdict:
    broken: list[str] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    attempts: int = 0
    seconds: float = 0.0


class Storm:
    def __init__(self, url: str, bucket: Bucket, lanes: Lanes, weather: Weather, folder: Path) -> None:
        self._url, self._bucket, self._lanes, self._weather, self._folder = url, bucket, lanes, weather, folder
        self._chance = random.Random(weather.seed)
        self._data = {f"{number}.txt": b"task %d of the storm" % number for number in range(weather.tasks)}
        self._cancelled: set[str] = set()
        self._orchestrators: list[subprocess.Popen[bytes]] = []

    async def run(self) -> Verdict:
        began = time.monotonic()
        app = App(self._url, settings=Settings(blobs_url=(self._folder / "blobs").as_uri(), pool_size=3))
        fleet.attach(app)
        async with app:
            try:
                self._orchestrators = [self._orchestrator(number) for number in range(2)]
                await self._weather_it(app)
            finally:
                for one in self._orchestrators:
                    kill(one)
            verdict = await check(app, self._bucket, self._data, self._cancelled)
        verdict.seconds = time.monotonic() - began
        return verdict

    async def _weather_it(self, app: App) -> None:
        nodes = [self._node(number) for number in range(3)]
        running = [asyncio.create_task(node.run()) for node in nodes]
        cutting = asyncio.create_task(self._kill_now_and_then())
        try:
            await self._send_objects()
            await self._cancel_some(app)
            await self._until_all_ended(app)
        finally:
            cutting.cancel()
            for node in nodes:
                node.stop()
            await asyncio.gather(*running, cutting, return_exceptions=True)

    def _node(self, number: int) -> Node:
        channel = Unruly(self._lanes, random.Random(self._weather.seed * 31 + number))
        return Node(
            channel, f"node-{number}", slots=4, asks_for=1.0, drain_seconds=0.0, heartbeat_seconds=1.0, folder=self._folder
        )

    def _orchestrator(self, number: int) -> subprocess.Popen[bytes]:
        place, output = self._bucket.place, self._bucket.output
        timing = {
            "TOWPATH_FLEET_ACK_SECONDS": "6",
            "TOWPATH_LEASE_SECONDS": "5",
            "TOWPATH_POOL_SIZE": "6",
            "TOWPATH_FLEET_RETRY_SECONDS": "0.3",
        }
        env = dict(os.environ) | timing | {
            "TOWPATH_DATABASE_URL": self._url, "TOWPATH_BLOBS_URL": (self._folder / "blobs").as_uri(),
        }  # fmt: skip
        with (self._folder / f"orchestrator-{number}.log").open("ab") as log:
            return subprocess.Popen(
                [*PROGRAM, "fleet", "orchestrate", "--tenant", "north", "--operation", SHOUT,
                 "--input", f"{place.bucket}/{place.folder}", "--output", f"{output.bucket}/{output.folder}",
                 "--events", self._lanes.events.url, "--work", self._lanes.work.url, "--status", self._lanes.status.url,
                 "--max-attempts", str(MOST_ATTEMPTS), "--sweep", "5"],
                cwd=ROOT, env=env, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    async def _kill_now_and_then(self) -> None:
        for _ in range(self._weather.kills):
            await asyncio.sleep(self._chance.uniform(4, 10))  # a process takes a while to have begun anything
            number = self._chance.randrange(2)
            kill(self._orchestrators[number])
            self._orchestrators[number] = self._orchestrator(number)

    async def _send_objects(self) -> None:
        """Notices are lost, doubled and shuffled, too; what none told of is found by listing."""
        notices: list[str] = []
        for name, data in self._data.items():
            await self._bucket.put(name, data)
            copies = self._chance.choices([1, 0, 2], [1 - 2 * ODDS, ODDS, ODDS])[0]
            notices += [self._bucket.notice(name, data)] * copies
        self._chance.shuffle(notices)
        for first in range(0, len(notices), 100):
            await self._lanes.events.send(notices[first : first + 100])

    async def _cancel_some(self, app: App) -> None:
        wanted = int(self._weather.tasks * self._weather.cancels)
        while len(self._cancelled) < wanted:
            for view in await all_tasks(app):
                chosen = len(self._cancelled) < wanted and view.status not in ENDED and self._chance.random() < 0.2
                if chosen and await moving.cancel(app, view.task, "the storm"):
                    self._cancelled.add(view.task.id)
            if len(await all_tasks(app)) == self._weather.tasks and all(
                view.status in ENDED for view in await all_tasks(app)
            ):
                return
            await asyncio.sleep(0.2)  # asking costs more than waiting

    async def _until_all_ended(self, app: App) -> None:
        async with asyncio.timeout(120 + self._weather.tasks):
            while True:
                found = await all_tasks(app)
                if len(found) >= self._weather.tasks and all(is_over(view) for view in found):
                    return
                await asyncio.sleep(0.5 + self._weather.tasks / 5000)  # a look at all of them is not free


def is_over(view: TaskView) -> bool:
    return view.status in ENDED and view.standing.retry_at is None


def kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


async def all_tasks(app: App) -> list[TaskView]:
    found: list[TaskView] = []
    before = None
    while page := await stored.page(app, None, before=before, limit=500):
        found += await views(app, page)
        before = page[-1].id
    return found


async def check(app: App, bucket: Bucket, data: dict[str, bytes], cancelled: set[str]) -> Verdict:
    """What must hold when the storm is over; each line is a promise that was broken."""
    verdict, found = Verdict(), await all_tasks(app)
    names = Counter(view.task.name for view in found)
    verdict.broken += [f"{name} became {names[name]} tasks" for name in data if names[name] != 1]
    for view in found:
        verdict.statuses[view.status] += 1
        attempts = await stored.attempts(app, view.task.id)
        verdict.attempts += len(attempts)
        verdict.broken += [
            f"{view.task.name}: {what}" for what in (*of_task(view, attempts, cancelled), *await _of_job(app, view))
        ]
        if view.status == "COMPLETED":
            result = await bucket.get(f"{view.task.name}.json")
            if result != data[view.task.name].upper():
                verdict.broken.append(f"{view.task.name}: its result is {result!r}")
            if hashlib.sha256(result).hexdigest() != view.task.result_sha256:
                verdict.broken.append(f"{view.task.name}: its result has another checksum than what was looked at")
    return verdict


def of_task(view: TaskView, attempts: list[Dispatch], cancelled: set[str]) -> list[str]:
    """Of a task and the times that it was sent."""
    broken = []
    if not is_over(view):
        broken.append(f"it has not ended, and is {view.status}")
    if [one.attempt for one in attempts] != list(range(1, len(attempts) + 1)):
        broken.append(f"its attempts are {[one.attempt for one in attempts]}")
    done = [one for one in attempts if one.outcome == "completed"]
    if (len(done) == 1) != (view.status == "COMPLETED") or len(done) > 1:
        broken.append(f"it is {view.status}, and {len(done)} attempts completed it")
    if done and done[0] is not attempts[-1]:
        broken.append("it was sent again after it had been completed")
    if view.task.id in cancelled and view.status != "CANCELLED":
        broken.append(f"it was cancelled, and is {view.status}")
    if view.status == "FAILED":
        broken.append("it has failed, although it could be tried again")
    broken += [
        f"attempt {later.attempt} was made before attempt {one.attempt} had ended"
        for one, later in pairwise(attempts)
        if one.ended_at is None or later.made_at < one.ended_at
    ]
    broken += [f"attempt {one.attempt} has not ended" for one in attempts if one.ended_at is None]
    return broken


async def _of_job(app: App, view: TaskView) -> list[str]:
    job = view.standing.job
    if job is None:
        return ["its job is gone"]
    events = [event async for event in app.events(job_id=job.id)]
    endings = [event.name for event in events if event.name in ("job.succeeded", "job.failed", "job.cancelled")]
    broken = [] if len(endings) == 1 else [f"its job has ended as {endings}"]
    if job.failures > MOST_ATTEMPTS:
        broken.append(f"it failed {job.failures} times, more than it may")
    if job.state is State.SUCCEEDED and "job.cancelled" in endings:
        broken.append("its job was cancelled and has succeeded")
    return broken + [f"its job differs from its history: {what}" for what in differences(job, fold(events))]


def environment(weed: WeedServer, sqs: SqsServer) -> dict[str, str]:
    return {**weed.env, "AWS_ENDPOINT_URL_SQS": sqs.endpoint, "AWS_DEFAULT_REGION": "us-east-1"}


async def storm(url: str, weed: WeedServer, weather: Weather, folder: Path) -> Verdict:
    bucket = Bucket(weed.endpoint, BUCKET, f"storm-{weather.seed}-{os.getpid()}")
    lanes = await Lanes.dug(f"storm-{weather.seed}-{os.getpid()}")
    try:
        return await Storm(url, bucket, lanes, weather, folder).run()
    finally:
        lanes.close()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.products.fleet.storm", description=__doc__)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    print(f"fleet storm of {options.tasks:,} tasks, seed {seed}", flush=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="towpath-storm-")))
        server, sqs, weed = stack.enter_context(PostgresServer()), stack.enter_context(SqsServer()), WeedServer()
        weed.start()
        stack.callback(weed.close)
        os.environ.update(environment(weed, sqs))
        verdict = asyncio.run(
            storm(server.create_database("storm"), weed, Weather(options.tasks, options.kills, seed), folder)
        )
    print(f"{dict(verdict.statuses)}, {verdict.attempts:,} attempts, {verdict.seconds:.0f} s", flush=True)
    for line in verdict.broken[:50]:
        print(f"BROKEN: {line}")
    return 1 if verdict.broken else 0


if __name__ == "__main__":
    sys.exit(main())

"""A fleet in bad weather, and whether every promise was kept.

    python -m tests.products.fleet.storm --tasks 10000 --seed 7

A real database, a real object store and real queues; two orchestrators as processes, of which one is killed again and again;
workers whose messages are lost, doubled and reordered one time in ten, and whose URLs end before they begin. One tenant's
objects are told of by a queue, with notices lost, doubled and reordered, too, and another's by hand all at once. Some tasks
are cancelled. Every task has to end once, as its history says, with the result that its input makes, and the tenants have to
take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tests.chaos.history import rows, unsettled
from tests.products.fleet.harbour import PROGRAM, Bucket, Lanes
from tests.products.fleet.operations import SHOUT
from tests.products.fleet.promises import Verdict, check
from tests.products.fleet.unruly import ODDS, Unruly
from tests.services.postgres import PostgresServer
from tests.services.sqs import SqsServer
from tests.services.weed import BUCKET, WeedServer
from towpath import App, Settings, fleet
from towpath.fleet import arrivals, moving, stored
from towpath.fleet.arrivals import Intake
from towpath.fleet.events import Created
from towpath.fleet.intake import Wanted
from towpath.fleet.node.node import Node

ROOT = Path(__file__).parents[3]
MOST_ATTEMPTS = 60
NORTH, SOUTH = "north", "south"
_AT_ONCE = 8
_ENDED = "('COMPLETED', 'FAILED', 'CANCELLED')"
_TIMING = {
    "TOWPATH_FLEET_ACK_SECONDS": "6",
    "TOWPATH_LEASE_SECONDS": "5",
    "TOWPATH_POOL_SIZE": "6",
    "TOWPATH_FLEET_RETRY_SECONDS": "0.3",
}


@dataclass(frozen=True)
class Weather:
    """What a storm is made of."""

    tasks: int
    kills: int
    seed: int
    cancels: float = 0.05
    souths: float = 0.1
    """How much of the tasks is another tenant's."""
    slots: int = 8


class Storm:
    def __init__(self, url: str, bucket: Bucket, lanes: Lanes, weather: Weather, folder: Path) -> None:
        self._url, self._bucket, self._lanes, self._weather, self._folder = url, bucket, lanes, weather, folder
        self._chance = random.Random(weather.seed)
        self._data = {f"{number}.txt": b"task %d of the storm" % number for number in range(weather.tasks)}
        self._cancelled: set[str] = set()
        self._orchestrators: list[subprocess.Popen[bytes]] = []
        self._killed = 0

    async def run(self) -> Verdict:
        began = time.monotonic()
        app = App(self._url, settings=Settings(blobs_url=(self._folder / "blobs").as_uri(), pool_size=8))
        fleet.attach(app)
        async with app:
            try:
                self._orchestrators = [self._orchestrator(number) for number in range(2)]
                await self._weather_it(app)
            finally:
                for one in self._orchestrators:
                    kill(one)
            took = time.monotonic() - began
            self._say("everything has ended; the histories are looked at")
            verdict = await check(app, self._bucket, self._data, self._cancelled)
        verdict.seconds, verdict.kills = took, self._killed
        return verdict

    async def _weather_it(self, app: App) -> None:
        nodes = [self._node(number) for number in range(3)]
        running = [asyncio.create_task(node.run()) for node in nodes]
        cutting = asyncio.create_task(self._kill_now_and_then())
        try:
            await self._send_objects(app)
            await self._until_all_ended(app)
            cutting.cancel()
            await self._until_settled()
        finally:
            cutting.cancel()
            for node in nodes:
                node.stop()
            await asyncio.gather(*running, cutting, return_exceptions=True)

    def _node(self, number: int) -> Node:
        channel = Unruly(self._lanes.work.url, self._lanes.status.url, random.Random(self._weather.seed * 31 + number))
        return Node(
            channel, f"node-{number}", slots=self._weather.slots, asks_for=10.0, drain_seconds=0.0, heartbeat_seconds=1.0,
            folder=self._folder,
        )  # fmt: skip

    def _orchestrator(self, number: int) -> subprocess.Popen[bytes]:
        place, output = self._bucket.place, self._bucket.output
        env = dict(os.environ) | _TIMING | {
            "TOWPATH_DATABASE_URL": self._url, "TOWPATH_BLOBS_URL": (self._folder / "blobs").as_uri(),
        }  # fmt: skip
        with (self._folder / f"orchestrator-{number}.log").open("ab") as log:
            return subprocess.Popen(
                [*PROGRAM, "fleet", "orchestrate", "--tenant", NORTH, "--operation", SHOUT,
                 "--input", f"{place.bucket}/{place.folder}", "--output", f"{output.bucket}/{output.folder}",
                 "--events", self._lanes.events.url, "--work", self._lanes.work.url, "--status", self._lanes.status.url,
                 "--max-attempts", str(MOST_ATTEMPTS), "--sweep", "5"],
                cwd=ROOT, env=env, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    async def _kill_now_and_then(self) -> None:
        while self._killed < self._weather.kills:
            await asyncio.sleep(self._chance.uniform(4, 10))  # a process takes a while to have begun anything
            number = self._chance.randrange(2)
            await asyncio.to_thread(kill, self._orchestrators[number])
            self._orchestrators[number] = self._orchestrator(number)
            self._killed += 1

    async def _send_objects(self, app: App) -> None:
        """What no notice told of is found by listing."""
        souths = set(self._chance.sample(sorted(self._data), int(self._weather.tasks * self._weather.souths)))
        sending, turns = [], asyncio.Semaphore(_AT_ONCE)
        for name in self._data:
            copies = self._chance.choices([1, 0, 2], [1 - 2 * ODDS, ODDS, ODDS])[0]
            sending.append(self._put_souths(app, name, turns) if name in souths else self._put(name, copies, turns))
        notices = [notice for some in await asyncio.gather(*sending) for notice in some]
        self._chance.shuffle(notices)
        for first in range(0, len(notices), 100):
            await self._lanes.events.send(notices[first : first + 100])
        self._say("all objects are there")

    async def _put(self, name: str, copies: int, turns: asyncio.Semaphore) -> list[str]:
        async with turns:
            await self._bucket.put(name, self._data[name])
        return [self._bucket.notice(name, self._data[name])] * copies

    async def _put_souths(self, app: App, name: str, turns: asyncio.Semaphore) -> list[str]:
        """As a server does that is told of an object; twice at once, as it may happen."""
        bucket = replace_folder(self._bucket, "south/")
        wanted = Wanted(SHOUT, max_attempts=MOST_ATTEMPTS)
        intake = Intake(bucket.place, self._bucket.output, self._lanes.work.url, wanted, SOUTH)
        async with turns:
            await bucket.put(name, self._data[name])
            found = Created(bucket.name, bucket.place.key(name))
            told = await asyncio.gather(*(arrivals.take(app, intake, found) for _ in range(2)))
        assert sorted(told) == [arrivals.KNOWN, arrivals.TAKEN]
        return []

    async def _until_all_ended(self, app: App) -> None:
        """A few are cancelled all along, wherever they are just now."""
        wanted, said = int(self._weather.tasks * self._weather.cancels), -1
        async with asyncio.timeout(300 + self._weather.tasks / 4):
            while True:
                there, ended = await asyncio.to_thread(self._counts)
                if ended == self._weather.tasks:
                    return
                some = min(5 + self._weather.tasks // 400, wanted - len(self._cancelled))
                if some > 0 and there * self._weather.cancels > len(self._cancelled):
                    await self._cancel(app, some)
                if ended * 10 // self._weather.tasks > said:
                    said = ended * 10 // self._weather.tasks
                    self._say(f"{there:,} tasks are known, {ended:,} have ended")
                await asyncio.sleep(0.5 + self._weather.tasks / 5000)  # a look at all of them is not free

    def _counts(self) -> tuple[int, int]:
        found = rows(
            self._url,
            f"SELECT count(*) AS there, count(CASE WHEN status IN {_ENDED} AND retry_at IS NULL THEN 1 END) AS ended "
            "FROM towpath.fleet_tasks",
        )[0]
        return found["there"], found["ended"]

    async def _cancel(self, app: App, some: int) -> None:
        found = await asyncio.to_thread(
            rows, self._url,
            f"SELECT task_id FROM towpath.fleet_tasks WHERE status NOT IN {_ENDED} ORDER BY random() LIMIT {some}",
        )  # fmt: skip
        for row in found:
            if await moving.cancel(app, await stored.task(app, row["task_id"]), "the storm"):
                self._cancelled.add(row["task_id"])

    async def _until_settled(self) -> None:
        """What is left to do of ended tasks is jobs, too."""
        async with asyncio.timeout(180):
            while await asyncio.to_thread(unsettled, self._url):  # noqa: ASYNC110  (other processes set no event of ours)
                await asyncio.sleep(0.2)

    def _say(self, what: str) -> None:
        if self._weather.tasks >= 1000:
            print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)


def replace_folder(bucket: Bucket, folder: str) -> Bucket:
    """The same bucket for another tenant, who has another folder of it."""
    other = Bucket(bucket.endpoint, bucket.name, bucket.folder)
    other.place = replace(bucket.place, folder=bucket.place.folder.removesuffix("in/") + folder)
    return other


def kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


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
    parser.add_argument("--database", choices=("postgres", "sqlite"), default="postgres")
    options = parser.parse_args()
    seed = random.randrange(1_000_000) if options.seed is None else options.seed
    print(f"fleet storm of {options.tasks:,} tasks on {options.database}, seed {seed}", flush=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="towpath-storm-")))
        if options.database == "sqlite":
            url = f"sqlite:///{folder / 'towpath.db'}"
        else:
            url = stack.enter_context(PostgresServer()).create_database("storm")
        sqs, weed = stack.enter_context(SqsServer()), WeedServer()
        weed.start()
        stack.callback(weed.close)
        os.environ.update(environment(weed, sqs))
        verdict = asyncio.run(storm(url, weed, Weather(options.tasks, options.kills, seed), folder))
    print(f"{dict(verdict.statuses)}, attempts {dict(verdict.attempts)}, {verdict.kills} kills, {verdict.seconds:.0f} s")
    for line in verdict.broken[:50]:
        print(f"BROKEN: {line}")
    return 1 if verdict.broken else 0


if __name__ == "__main__":
    sys.exit(main())

"""The whole of it with real parts: objects in a real S3 server, notices over real SQS, PostgreSQL, orchestrators and workers
as processes. The workers are in networks of their own and reach the object store and the queues, and nothing else."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.engine.working import eventually, history
from tests.products.fleet.harbour import ENDED, PROGRAM, Bucket, Lanes
from tests.products.fleet.operations import LINGER, SHOUT
from tests.services.missing import lacking
from tests.services.postgres import PostgresServer
from tests.services.sqs import SqsServer
from tests.services.weed import BUCKET, WeedServer
from towpath import App, Settings, StoreUnavailable, Transaction, fleet
from towpath.fleet import stored
from towpath.fleet.node.node import Node
from towpath.fleet.node.over_queues import OverQueues
from towpath.fleet.views import TaskView, views
from towpath.models.moonshine_files import package

ROOT = Path(__file__).parents[3]
_numbers = count(1)


@pytest.fixture
def docks(
    s3_server: WeedServer, sqs_server: SqsServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, postgres_url: str
) -> Bucket:
    for name, value in s3_server.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", sqs_server.endpoint)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("TOWPATH_DATABASE_URL", postgres_url)
    monkeypatch.setenv("TOWPATH_BLOBS_URL", (tmp_path / "blobs").as_uri())
    monkeypatch.setenv("TOWPATH_POOL_SIZE", "4")
    monkeypatch.setenv("TOWPATH_FLEET_RETRY_SECONDS", "0.2")
    return Bucket(s3_server.endpoint, BUCKET, f"far-{next(_numbers)}")


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[Crew]:
    with ExitStack() as stack:
        yield Crew(tmp_path, stack)


class Crew:
    """Processes that end with the test."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack

    def start(self, *command: str, name: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        log = self._stack.enter_context((self._folder / f"{name}.log").open("ab"))
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log, start_new_session=True)
        self._stack.callback(end, process)
        return process

    def orchestrator(self, bucket: Bucket, lanes: Lanes, name: str, *more: str) -> subprocess.Popen[bytes]:
        return self.start(
            *PROGRAM, "fleet", "orchestrate", "--name", name, "--tenant", "north",
            "--input", f"{bucket.place.bucket}/{bucket.place.folder}", "--output",
            f"{bucket.output.bucket}/{bucket.output.folder}", "--events", lanes.events.url, "--work", lanes.work.url,
            "--status", lanes.status.url, *more, name=name,
        )  # fmt: skip

    def cable(self, ports: list[int], name: str) -> tuple[Path, subprocess.Popen[bytes]]:
        """What leads out of a worker's network; ending it cuts the worker off."""
        folder = self._folder / f"cable-{name}"
        folder.mkdir(exist_ok=True)
        words = [sys.executable, "-m", "tests.products.fleet.island", "outside", str(folder), *map(str, ports)]
        process = self.start(*words, name=f"cable-{name}")
        return folder, process

    def far(self, command: list[str], ports: list[int], folder: Path, name: str) -> subprocess.Popen[bytes]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("TOWPATH_", "PG"))}
        island = [sys.executable, "-m", "tests.products.fleet.island", "inside", str(folder), *map(str, ports), "--"]
        return self.start("unshare", "-n", *island, *command, name=name, env=kept)

    def log(self, name: str) -> str:
        return (self._folder / f"{name}.log").read_text("utf-8", "replace")


def end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGCONT)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def need_namespaces() -> None:
    try:
        subprocess.run(["unshare", "-n", "true"], check=True, capture_output=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        lacking("network namespaces", "run the tests where `unshare -n true` is allowed", in_ci=False)


async def tasks(app: App) -> list[TaskView]:
    return await views(app, await stored.page(app, None, before=None, limit=1000))


async def until(app: App, total: int, within: float = 300.0) -> list[TaskView]:
    async with asyncio.timeout(within):
        while True:
            with suppress(StoreUnavailable):  # the database may be about to come back
                found = await tasks(app)
                if len(found) >= total and all(one.status in ENDED and not one.standing.retry_at for one in found):
                    return found
            await asyncio.sleep(0.2)  # asking costs more than waiting


@pytest.fixture
async def looking(postgres_url: str, tmp_path: Path) -> AsyncIterator[App]:
    app = App(postgres_url, settings=Settings(blobs_url=(tmp_path / "blobs").as_uri(), pool_size=2))
    fleet.attach(app)
    async with app:
        yield app


def worker_command(lanes: Lanes, name: str) -> list[str]:
    return [
        *PROGRAM, "fleet", "worker", "--queue", lanes.work.url, "--status", lanes.status.url,
        "--name", name, "--load", "tests.products.fleet.operations",
    ]  # fmt: skip


@pytest.mark.slow
async def test_workers_that_reach_nothing_but_objects_and_queues_do_all_of_the_work(
    docks: Bucket, crew: Crew, looking: App, s3_server: WeedServer, sqs_server: SqsServer,
    postgres_server: PostgresServer,
) -> None:  # fmt: skip
    need_namespaces()
    lanes = await Lanes.dug(docks.folder)
    ports = [int(s3_server.endpoint.rsplit(":", 1)[1]), sqs_server.port]
    first = crew.orchestrator(docks, lanes, "first", "--operation", SHOUT)
    crew.orchestrator(docks, lanes, "second", "--operation", SHOUT)
    folders = {}
    nodes = {}
    for name in ("tug", "lighter"):
        folders[name], _ = crew.cable(ports, name)
        await eventually(lambda name=name: "ready" in crew.log(f"cable-{name}"), within=60)
        nodes[name] = crew.far(worker_command(lanes, name), ports, folders[name], name)

    probe = f"import socket; socket.create_connection(('127.0.0.1', {postgres_server.port}), 5)"
    cut_off = crew.far([sys.executable, "-c", probe], ports, folders["tug"], "probe")
    assert await asyncio.to_thread(cut_off.wait, 60) != 0
    assert "refused" in crew.log("probe")

    data = {f"{number}.txt": b"object %d" % number for number in range(12)}
    for name, content in data.items():
        await docks.put(name, content)
        await lanes.events.send([docks.notice(name, content)] * 2)
    await eventually(lambda: _some_completed(looking), within=120)
    os.killpg(first.pid, signal.SIGKILL)
    os.killpg(nodes["lighter"].pid, signal.SIGKILL)
    await asyncio.to_thread(postgres_server.restart)
    found = await until(looking, len(data))
    assert {one.status for one in found} == {"COMPLETED"}, crew.log("second")[-3000:]
    for name, content in data.items():
        assert await docks.get(f"{name}.json") == content.upper()
    for one in found:
        assert one.standing.job is not None
        await history(looking, one.standing.job)
        attempts = await stored.attempts(looking, one.task.id)
        assert [attempt.outcome for attempt in attempts].count("completed") == 1
    lanes.close()


async def _some_completed(app: App) -> bool:
    return any(one.status == "COMPLETED" for one in await tasks(app))


@pytest.mark.slow
async def test_a_worker_far_away_hears_what_was_said(
    docks: Bucket, crew: Crew, looking: App, s3_server: WeedServer, sqs_server: SqsServer
) -> None:
    """With the real speech engine, after having been cut off for a while."""
    need_namespaces()
    lanes = await Lanes.dug(docks.folder)
    ports = [int(s3_server.endpoint.rsplit(":", 1)[1]), sqs_server.port]
    crew.orchestrator(docks, lanes, "orchestrator", "--settings", '{"language": "en"}')
    folder, connected = crew.cable(ports, "tug")
    await eventually(lambda: "ready" in crew.log("cable-tug"), within=60)
    crew.far(worker_command(lanes, "tug"), ports, folder, "tug")
    end(connected)
    spoken = (package() / "assets" / "beckett.wav").read_bytes()
    await docks.put("talk.wav", spoken)
    await lanes.events.send([docks.notice("talk.wav", spoken)])
    await eventually(lambda: _is_sent(looking), within=90)
    crew.cable(ports, "tug")
    [done] = await until(looking, 1)
    assert done.status == "COMPLETED", crew.log("tug")[-3000:]
    told: dict[str, Any] = json.loads(await docks.get("talk.wav.json"))
    assert told["engine"].startswith("moonshine/")
    assert told["text"]
    assert told["segments"][0]["start"] < told["segments"][0]["end"]
    lanes.close()


async def _lapsed(app: App) -> bool:
    """The lease of whoever has the task runs out now, and the orchestrator's loop notices."""

    async def unit(tx: Transaction) -> int:
        return await tx.execute("UPDATE towpath.fleet_dispatch SET lease_until = to_timestamp(1) WHERE ended_at IS NULL")

    await app.transact(unit)
    return True


async def _is_claimed(app: App) -> bool:
    return any(one.last is not None and one.last.acknowledged for one in await tasks(app))


async def _outcomes(app: App) -> list[str | None]:
    [one] = await tasks(app)
    return [attempt.outcome for attempt in await stored.attempts(app, one.task.id)]


class Delayed:
    """A task that takes until the test lets it go on, and its orchestrator."""

    def __init__(self, crew: Crew, bucket: Bucket, lanes: Lanes, folder: Path, looking: App) -> None:
        self.begun, self.go_on = folder / "begun", folder / "go-on"
        self._bucket, self._lanes, self._looking = bucket, lanes, looking
        told = json.dumps({"begun": str(self.begun), "go_on": str(self.go_on)})
        crew.orchestrator(bucket, lanes, "orchestrator", "--operation", LINGER, "--settings", told)

    async def send(self) -> None:
        await self._bucket.put("long.txt", b"long")
        await self._lanes.events.send([self._bucket.notice("long.txt", b"long")])
        await eventually(self.begun.exists, within=90)
        await eventually(lambda: _is_claimed(self._looking), within=60)

    async def result(self) -> bytes:
        return await self._bucket.get("long.txt.json")


async def test_a_worker_process_that_was_frozen_past_its_lease_comes_back_too_late(
    docks: Bucket, crew: Crew, looking: App, tmp_path: Path
) -> None:
    lanes = await Lanes.dug(docks.folder)
    task = Delayed(crew, docks, lanes, tmp_path, looking)
    frozen = crew.start(*worker_command(lanes, "frozen"), name="frozen")
    await task.send()
    os.killpg(frozen.pid, signal.SIGSTOP)
    task.begun.unlink()
    await _lapsed(looking)
    async with aboard(lanes) as fresh:
        await eventually(task.begun.exists, within=60)
        os.killpg(frozen.pid, signal.SIGCONT)
        task.go_on.touch()
        [done] = await until(looking, 1)
        assert done.last is not None
        assert done.last.worker_id == fresh
    assert await _outcomes(looking) == ["lost", "completed"]
    assert await task.result() == b"attempt 2"
    await eventually(lambda: "attempt 1: COMPLETED" in crew.log("frozen"), within=30)  # so it says, and nobody minds
    assert await task.result() == b"attempt 2"
    lanes.close()


@asynccontextmanager
async def aboard(lanes: Lanes) -> AsyncIterator[str]:
    """A worker in this process."""
    node = Node(
        OverQueues(lanes.work.url, lanes.status.url), "fresh", asks_for=1.0, drain_seconds=0.0, heartbeat_seconds=1.0
    )
    running = asyncio.create_task(node.run())
    try:
        yield "fresh"
    finally:
        node.stop()
        await asyncio.wait_for(running, 30)


@pytest.mark.slow
@pytest.mark.parametrize(("how", "seconds"), [("frozen", 75.0), ("cut off", 120.0)])
async def test_a_worker_that_is_away_for_minutes_loses_its_task_and_is_a_good_worker_afterwards(
    docks: Bucket, crew: Crew, looking: App, s3_server: WeedServer, sqs_server: SqsServer, tmp_path: Path, how: str,
    seconds: float,
) -> None:  # fmt: skip
    """In real time: its lease is a minute, and nobody helps the clock."""
    need_namespaces()
    lanes = await Lanes.dug(docks.folder)
    ports = [int(s3_server.endpoint.rsplit(":", 1)[1]), sqs_server.port]
    task = Delayed(crew, docks, lanes, tmp_path, looking)
    folder, connected = crew.cable(ports, "tug")
    await eventually(lambda: "ready" in crew.log("cable-tug"), within=60)
    tug = crew.far(worker_command(lanes, "tug"), ports, folder, "tug")
    await task.send()
    if how == "frozen":
        os.killpg(tug.pid, signal.SIGSTOP)
    else:
        end(connected)
    await asyncio.sleep(seconds)
    await eventually(lambda: _was_given_up(looking), within=60)
    task.go_on.touch()
    if how == "frozen":
        os.killpg(tug.pid, signal.SIGCONT)
    else:
        crew.cable(ports, "tug")
    [done] = await until(looking, 1)
    assert done.status == "COMPLETED", crew.log("tug")[-3000:]
    assert (await _outcomes(looking))[0] == "lost"
    assert (await _outcomes(looking)).count("completed") == 1
    assert done.last is not None
    assert await task.result() == f"attempt {done.last.attempt}".encode()
    lanes.close()


async def _was_given_up(app: App) -> bool:
    return (await _outcomes(app))[0] == "lost"


async def _is_sent(app: App) -> bool:
    return any(one.last is not None and one.last.sent_at is not None for one in await tasks(app))

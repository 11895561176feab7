"""`python -m bench.fleet_load`: what a fleet asks of its database, and how many hosts one database bears.

Two parts. The first measures, on a real PostgreSQL, how much processor time its server needs for each thing that a task of
the fleet makes it do; processor time, because that hardly depends on what else the machine is doing. The second plays a
fleet: hosts with slots, tasks of random length, failures and hosts that vanish, all from one seed, and adds up what the
database would be asked in each second.

What is played, for each task: it is made (1), its job is claimed, sent out and put to rest (2), its worker says that it has
begun (3), is heard of every `heartbeat` seconds (4), and reports (5), which wakes the job; the job is claimed again, looks
at the result and ends (6). A task that fails goes through 2 to 5 again; one whose host vanishes does so after the lease.
"""

import argparse
import asyncio
import heapq
import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import psutil

from tests.services.postgres import PostgresServer
from towpath import App, Context, Settings

HOSTS, TASKS, SEED = 200, 1_000_000, 15
_BEAR = 0.7
"""Of its cores, beyond which a database answers late."""
_MEASURED = 600
_BATCH = 50


@dataclass(frozen=True)
class Costs:
    """Milliseconds of the server's processor time."""

    made: float
    """A task is made: its job is enqueued, in batches, as events come in."""
    cycle: float
    """Its job is claimed, put to rest, woken by a signal, claimed again and ended."""
    guarded: float
    """One guarded statement in a transaction of its own: a heartbeat, or a word of a worker."""


@dataclass(frozen=True)
class Fleet:
    hosts: int
    slots: int
    tasks: int
    seconds: float
    """How long a task takes, on average; a tenth of them takes over twice as long."""
    heartbeat: float = 10.0
    failing: float = 0.02
    vanishing: float = 0.001
    lease: float = 60.0
    seed: int = SEED


@dataclass(frozen=True)
class Played:
    hours: float
    tasks_per_second: float
    transactions_per_second: float
    busiest_second: float
    cores: float
    """Of the database, on average over the run."""
    busiest_minute: float
    """Cores, in the minute in which most was asked."""


def play(fleet: Fleet, costs: Costs) -> Played:
    """Slots take tasks one after the other; whoever is free first takes the next. Nothing depends on the clock."""
    chance = random.Random(fleet.seed)
    free = [chance.random() * fleet.heartbeat for _ in range(fleet.hosts * fleet.slots)]
    heapq.heapify(free)
    again: list[float] = []
    words: list[float] = []
    cycles: list[float] = []
    beats: list[tuple[float, int]] = []
    mean = np.log(fleet.seconds) - 0.32  # the median of a lognormal with this mean and a sigma of 0.8
    left = fleet.tasks
    while left or again:
        start = heapq.heappop(free)
        if again and again[0] <= start:
            heapq.heappop(again)
        elif left:
            left -= 1
        else:
            start = max(start, heapq.heappop(again))
        took, luck = chance.lognormvariate(mean, 0.8), chance.random()
        vanished = luck < fleet.vanishing
        end = start + took * (chance.random() if vanished else 1.0)
        words.append(start)
        beats.append((start, int((end - start) / fleet.heartbeat)))
        if vanished:
            end += fleet.lease
        words.append(end)
        cycles.append(end)
        if luck < fleet.vanishing + fleet.failing:
            heapq.heappush(again, end + 1.0)
        heapq.heappush(free, end)
    return _added_up(fleet, costs, words, cycles, beats)


def _added_up(
    fleet: Fleet, costs: Costs, words: Sequence[float], cycles: Sequence[float], beats: Sequence[tuple[float, int]]
) -> Played:
    starts, counts = np.array([start for start, _ in beats]), np.array([count for _, count in beats])
    before = np.repeat(np.cumsum(counts) - counts, counts)
    all_beats = np.repeat(starts, counts) + (np.arange(1, counts.sum() + 1) - before) * fleet.heartbeat
    ends = np.array(cycles)
    seconds = int(ends.max()) + 1
    guarded = np.bincount(np.concatenate([np.array(words), all_beats]).astype(int), minlength=seconds)[:seconds]
    ended = np.bincount(ends.astype(int), minlength=seconds)[:seconds]
    load = (guarded * costs.guarded + ended * (costs.cycle + costs.made)) / 1000.0
    minutes = load[: seconds // 60 * 60].reshape(-1, 60).mean(axis=1) if seconds >= 60 else load
    # Claims, rests and ends share commits; here they are counted one by one, as the guarded statements are.
    transactions = guarded + 5 * ended
    return Played(
        seconds / 3600, fleet.tasks / seconds, float(transactions.mean()), float(transactions.max()), float(load.mean()),
        float(minutes.max()),
    )  # fmt: skip


def measured(seconds_to_settle: float = 0.5) -> Costs:
    with PostgresServer(durable=True) as server:
        assert server.pid is not None
        return asyncio.run(_measure(server.create_database("fleet"), server.pid, seconds_to_settle))


async def _measure(url: str, pid: int, rest: float) -> Costs:
    app = App(url, settings=Settings(keep_succeeded_days=0))

    @app.operation("task", queue="fleet")
    async def task(ctx: Context, payload: int) -> int:
        await ctx.wait_for("reported", timeout=600)
        return payload

    async with app:
        began = _spent(pid)
        jobs = []
        for first in range(0, _MEASURED, _BATCH):
            jobs += await app.enqueue_many([{"operation": "task", "payload": n} for n in range(first, first + _BATCH)])
        made = _spent(pid) - began
        idle = await _idle(pid, rest)
        began, since = _spent(pid), time.monotonic()
        stop = asyncio.Event()
        working = asyncio.create_task(app.run_worker(["fleet"], 100, stop=stop))
        for first in range(0, _MEASURED, _BATCH):
            await asyncio.gather(*(app.signal(job.id, "reported", 1) for job in jobs[first : first + _BATCH]))
        for job in jobs:
            await app.result(job.id, timeout=120)
        stop.set()
        await working
        cycle = _spent(pid) - began - idle * (time.monotonic() - since)
        guarded = await _guarded(app, pid)
    return Costs(1000 * made / _MEASURED, 1000 * cycle / _MEASURED, 1000 * guarded / _MEASURED)


async def _guarded(app: App, pid: int) -> float:
    """As many guarded changes of a row, each in its own transaction, by ten at a time."""
    async with app.transaction() as tx:
        await tx.execute(
            "CREATE TABLE heard (id integer PRIMARY KEY, sequence integer, at timestamptz) WITH (fillfactor = 70)"
        )
        await tx.execute("INSERT INTO heard SELECT n, 0, now() FROM generate_series(0, 999) AS n")

    async def one(number: int) -> None:
        async with app.transaction() as tx:
            await tx.execute(
                f"UPDATE heard SET sequence = sequence + 1, at = now() WHERE id = {number % 1000} AND sequence < {10**9}"
            )

    began = _spent(pid)
    for first in range(0, _MEASURED, 10):
        await asyncio.gather(*(one(number) for number in range(first, first + 10)))
    return _spent(pid) - began


async def _idle(pid: int, seconds: float) -> float:
    """What the server needs by itself in a second."""
    began = _spent(pid)
    await asyncio.sleep(seconds)
    return max(0.0, (_spent(pid) - began) / seconds)


def _spent(pid: int) -> float:
    """Processor seconds of the server and all its processes so far, those that have ended included."""
    server = psutil.Process(pid)
    own = server.cpu_times()
    spent = own.user + own.system + own.children_user + own.children_system
    for child in server.children():
        try:
            times = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        spent += times.user + times.system
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.fleet_load", description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=TASKS)
    parser.add_argument("--costs", help="use these instead of measuring, as this command prints them")
    parser.add_argument("--cores", type=int, default=8, help="of the database's machine")
    asked = parser.parse_args()
    costs = Costs(**json.loads(asked.costs)) if asked.costs else measured()
    print("costs in ms of the database's processor:", json.dumps({k: round(v, 3) for k, v in vars(costs).items()}))
    print("\n| hosts × slots | task | hours | tasks/s | transactions/s | busiest second | cores | busiest minute |")
    print("|---|---|---|---|---|---|---|---|")
    for seconds in (60.0, 10.0, 2.0):
        fleet = Fleet(HOSTS, 4, asked.tasks, seconds)
        found = play(fleet, costs)
        print(
            f"| {fleet.hosts} × {fleet.slots} | {seconds:g} s | {found.hours:.1f} | {found.tasks_per_second:,.1f} | "
            f"{found.transactions_per_second:,.0f} | {found.busiest_second:,.0f} | {found.cores:.2f} | "
            f"{found.busiest_minute:.2f} |",
            flush=True,
        )
        bears = _BEAR * asked.cores * fleet.hosts / found.cores
        print(f"  with tasks of {seconds:g} s, {asked.cores} cores at {_BEAR:.0%} bear {bears:,.0f} hosts")


if __name__ == "__main__":
    main()

"""A worker settles what has ended along with its next claim, and loses neither when that goes wrong."""

import asyncio
import logging

import pytest

from tests.engine.working import Gate, ended, eventually, working
from towpath import State
from towpath.core import failpoints
from towpath.core.errors import LeaseLost, StoreUnavailable
from towpath.engine.running.pace import Pace
from towpath.engine.running.turns import Turns
from towpath.engine.running.worker import Worker
from towpath.store.contract import UNDECIDED, claimed


async def test_a_lone_slot_settles_with_the_next_claim(app, monkeypatch):
    """When nothing is claimed ahead, as with jobs that are longer than a turn."""
    turns = []
    real = app.services.store.turn

    async def seen(transitions, *rest):
        turns.append([transition.job_id for transition in transitions])
        return await real(transitions, *rest)

    monkeypatch.setattr(app.services.store, "turn", seen)

    monkeypatch.setattr(Pace, "ending_soon", lambda *_: 0)

    @app.operation("work")
    async def work(ctx):
        return None

    jobs = await app.enqueue_many([{"operation": "work"}] * 5)
    async with working(app, concurrency=1):
        for job in jobs:
            assert (await ended(app, job)).state is State.SUCCEEDED
    assert [job.id for job in jobs[:4]] == [job_id for turn in turns for job_id in turn][:4]


async def test_a_turn_that_fails_leaves_the_settles_to_the_group_commit(app, monkeypatch):
    async def refused(*_):
        raise StoreUnavailable("not now")

    monkeypatch.setattr(app.services.store, "turn", refused)

    @app.operation("work")
    async def work(ctx):
        return None

    jobs = await app.enqueue_many([{"operation": "work"}] * 3)
    async with working(app, concurrency=1):
        for job in jobs:
            assert (await ended(app, job)).state is State.SUCCEEDED


async def test_what_a_turn_could_not_decide_is_decided_without_one(app, monkeypatch):
    """The lane gets a cap while its job runs, so ending it takes more than a turn does."""
    gate, open_ones = Gate(), []
    real = app.services.store.turn

    async def seen(*args):
        verdicts, batch = await real(*args)
        open_ones.extend(verdict for verdict in verdicts if verdict is UNDECIDED)
        return verdicts, batch

    monkeypatch.setattr(app.services.store, "turn", seen)
    # On a busy machine an ending may be written before the turn that would have taken it along. Here it waits.
    monkeypatch.setattr(Turns, "flush_within", lambda *_: None)

    @app.operation("work")
    async def work(ctx):
        await gate.wait()

    first, *rest = await app.enqueue_many([{"operation": "work", "tenant": "alice"}] * 3)
    async with working(app, concurrency=1):
        await gate.until_reached()
        await app.queues.lane("default", "alice", max_slots=1)
        gate.open()
        for job in (first, *rest):
            assert (await ended(app, job)).state is State.SUCCEEDED
    assert open_ones


async def test_what_a_job_said_last_comes_before_its_end(app):
    @app.operation("work")
    async def work(ctx):
        await ctx.progress(1, 2)
        await ctx.progress(2, 2)

    jobs = await app.enqueue_many([{"operation": "work"}] * 5)
    async with working(app, concurrency=1):
        for job in jobs:
            assert (await ended(app, job)).progress_current == 2
            names = [event.name async for event in app.events(job_id=job.id)]
            assert names[-2:] == ["job.progress", "job.succeeded"]


async def test_what_ends_while_a_turn_is_on_its_way_waits_for_the_next_one(app, monkeypatch):
    """Otherwise it would be a commit of its own, and the turn would have nothing to take along."""
    alone, real = [], app.services.store.settle

    async def seen(transitions):
        alone.extend(transitions)
        return await real(transitions)

    monkeypatch.setattr(app.services.store, "settle", seen)
    monkeypatch.setattr(Pace, "ending_soon", lambda *_: 0)

    @app.operation("work")
    async def work(ctx):
        return None

    jobs = await app.enqueue_many([{"operation": "work"}] * 200)
    async with working(app, concurrency=20):
        for job in jobs:
            assert (await ended(app, job)).state is State.SUCCEEDED
        assert alone == []


async def test_what_ends_while_no_slot_is_free_is_settled_all_the_same(app):
    gate = asyncio.Event()

    @app.operation("work")
    async def work(ctx, waits: bool):
        if waits:
            await gate.wait()

    [quick, *slow] = await app.enqueue_many([{"operation": "work", "payload": waits} for waits in (False, True, True)])
    async with working(app, concurrency=2):
        assert (await ended(app, quick)).state is State.SUCCEEDED
        gate.set()
        for job in slow:
            assert (await ended(app, job)).state is State.SUCCEEDED


async def test_a_worker_that_stops_settles_what_it_had_left_for_the_next_claim(app):
    gate = asyncio.Event()

    @app.operation("work")
    async def work(ctx):
        await gate.wait()

    jobs = await app.enqueue_many([{"operation": "work"}] * 4)
    worker = app.worker(concurrency=8)
    running = asyncio.create_task(worker.run())
    await eventually(lambda: len(worker.running) == 4)
    worker.stop()
    gate.set()
    await asyncio.wait_for(running, 30)
    assert [(await app.get(job.id)).state for job in jobs] == [State.SUCCEEDED] * 4


async def test_a_worker_takes_its_lists_of_leases_away(app):
    @app.operation("work")
    async def work(ctx):
        return None

    jobs = await app.enqueue_many([{"operation": "work"}] * 30)
    async with working(app, concurrency=10):
        for job in jobs:
            await ended(app, job)
        await eventually(lambda: nothing_leased(app), within=20)
    assert await nothing_leased(app)


async def nothing_leased(app) -> bool:
    """Whether no job is leased any more."""
    table = "towpath_lease" if app.url.startswith("sqlite") else "towpath.lease"
    rows = await app.services.store.read(lambda tx: tx.fetch_sql(f"SELECT count(*) AS n FROM {table}"))
    return rows[0]["n"] == 0


async def test_a_handler_that_says_its_lease_is_lost_when_it_is_not_leaves_it_to_the_rescue(app):
    @app.operation("work")
    async def work(ctx):
        raise LeaseLost("somebody else's")

    job = await app.enqueue("work")
    async with working(app, concurrency=2):
        await eventually(lambda: job_began(app, job))
        await asyncio.sleep(0.2)
    assert (await app.get(job.id)).leased
    assert not await nothing_leased(app)


async def job_began(app, job) -> bool:
    return (await app.get(job.id)).attempt == 1


@pytest.mark.parametrize("janitor", [True, False])
async def test_a_worker_that_is_stopped_in_a_claim_finishes_what_it_has_claimed(app, janitor):
    ran = []

    @app.operation("work")
    async def work(ctx):
        await asyncio.sleep(0.05)
        ran.append(ctx.id)

    await app.enqueue_many([{"operation": "work"}] * 100)
    worker = Worker(app.services, ["default"], 60, janitor=janitor)
    failpoints.install(lambda name: worker.stop() if name == "worker.claimed" else None)
    try:
        await asyncio.wait_for(worker.run(), 30)
    finally:
        failpoints.install(None)
    assert len(ran) == 60
    assert not [job for job in await app.list(limit=200) if job.leased]


async def test_a_worker_that_is_told_not_to_wait_hands_back_what_it_has_just_claimed(app):
    @app.operation("work")
    async def work(ctx):
        await asyncio.sleep(3600)

    jobs = await app.enqueue_many([{"operation": "work"}] * 60)
    worker = Worker(app.services, ["default"], 60)
    failpoints.install(lambda name: worker.stop_now() if name == "worker.claimed" else None)
    try:
        await asyncio.wait_for(worker.run(), 30)
    finally:
        failpoints.install(None)
    assert {((await app.get(job.id)).state, (await app.get(job.id)).leased) for job in jobs} == {(State.QUEUED, False)}


async def test_what_a_job_logs_last_comes_before_its_end_however_busy_its_worker_is(app):
    @app.operation("work")
    async def work(ctx):
        logging.getLogger("shop").warning("the last word of %s", ctx.id)

    jobs = await app.enqueue_many([{"operation": "work"}] * 300)
    async with working(app, concurrency=100):
        for job in jobs:
            await ended(app, job)
    for job in jobs:
        lines = [event async for event in app.events(job_id=job.id)]
        assert [event.message for event in lines if event.name == "log"] == [f"the last word of {job.id}"]
        assert lines[-1].name == "job.succeeded"


async def test_a_claim_that_cannot_be_read_costs_the_worker_no_slot(app, monkeypatch):
    @app.operation("work")
    async def work(ctx):
        return None

    broken, sound = [await app.enqueue("work") for _ in range(2)]

    def read(queue: str, row):
        if str(row[0]) == broken.id:
            raise ValueError("an odd row")
        return claimed(queue, row)

    monkeypatch.setattr("towpath.store.contract.claimed", read)
    async with working(app, concurrency=1):
        assert (await ended(app, sound)).state is State.SUCCEEDED
    row = await app.get(broken.id)
    assert (row.state, row.leased) == (State.RUNNING, True)  # as after a crash: it will be rescued

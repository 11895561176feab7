"""Jobs that are claimed before a slot is free for them: begun soon, or handed back; never lost, never too many."""

import asyncio
from collections import Counter

import pytest

from tests.engine.working import Gate, ended, eventually, happened, in_state, working
from towpath import State
from towpath.engine.running.pace import Pace


@pytest.fixture
def always_ahead(monkeypatch):
    """As if every job were over in no time, and nobody ever lost patience."""
    monkeypatch.setattr(Pace, "ending_soon", lambda _, young: young)
    monkeypatch.setattr(Pace, "patience", 3600.0)


@pytest.fixture
def stuck(app):
    """An operation that stays in its slot until its gate is opened."""
    gate = Gate()
    begun: list[int] = []

    @app.operation("stuck")
    async def stuck(ctx, n: int):
        begun.append(n)
        await gate.wait()

    gate.begun = begun
    return gate


async def claimed(app, number: int):
    """So many of the jobs, once they are claimed."""

    async def there():
        rows = [row for row in await app.list(limit=200) if row.state is State.RUNNING]
        return rows if len(rows) == number else None

    return await eventually(there)


async def enqueue(app, number: int, **options):
    return await app.enqueue_many([{"operation": "stuck", "payload": n, **options} for n in range(number)])


async def test_one_further_batch_is_claimed_and_never_more_is_begun_than_there_are_slots(app, stuck, always_ahead):
    jobs = await enqueue(app, 20)
    async with working(app, concurrency=4):
        await claimed(app, 8)
        assert stuck.begun == [0, 1, 2, 3]
        assert [(await app.explain(job.id)).reason for job in jobs[:8]] == ["running"] * 4 + ["claimed"] * 4
        stuck.open()
        for job in jobs:
            assert (await ended(app, job)).state is State.SUCCEEDED
    assert stuck.begun == list(range(20))


async def test_short_jobs_are_claimed_ahead_by_themselves_and_all_of_them_are_run_once(app):
    """Nothing is set and nothing is patched: the worker measures."""
    ran = Counter()

    @app.operation("work")
    async def work(ctx, n: int):
        ran[n] += 1

    jobs = await app.enqueue_many([{"operation": "work", "payload": n} for n in range(300)])
    async with working(app, concurrency=8):
        for job in jobs:
            assert (await ended(app, job)).state is State.SUCCEEDED
    assert ran == Counter(range(300))


async def test_long_jobs_are_not_claimed_ahead(app):
    most = 0
    worker = app.worker(concurrency=2)

    @app.operation("long")
    async def long(ctx):
        nonlocal most
        await asyncio.sleep(0.1)
        most = max(most, worker._slots.waiting + worker._turns.coming + len(worker.running))

    worker._pace.turned(0.02)
    await app.enqueue_many([{"operation": "long"}] * 30)
    for _ in range(32):
        worker._pace.ended(0.1)
    await worker.run_until_idle()
    assert most == 2


async def test_what_waits_for_a_slot_goes_back_when_none_becomes_free(app, stuck, monkeypatch):
    """The jobs turned out to be long: somebody else may have a slot for those behind them."""
    monkeypatch.setattr(Pace, "ending_soon", lambda pace, young: young if pace.turn < 1000 else 0)
    jobs = await enqueue(app, 4)
    worker = app.worker(concurrency=2)
    running = asyncio.create_task(worker.run())
    await stuck.until_reached()
    await eventually(lambda: asyncio.ensure_future(_queued_again(app, jobs[2:])))
    worker._pace.turn = 1000.0  # it claims no more ahead
    assert stuck.begun == [0, 1]
    for job in jobs[2:]:
        assert (await app.get(job.id)).failures == 0
        assert "no_slot" in {event.fields["reason"] for event in await happened(app, job, "job.released")}
    stuck.open()
    for job in jobs:
        assert (await ended(app, job)).state is State.SUCCEEDED
    assert sorted(stuck.begun) == [0, 1, 2, 3]
    worker.stop()
    await running


async def _queued_again(app, jobs):
    return all([await happened(app, job, "job.released") for job in jobs])


@pytest.mark.parametrize("now", [False, True])
async def test_a_worker_that_stops_hands_back_what_it_has_claimed_ahead(app, stuck, always_ahead, now):
    jobs = await enqueue(app, 4)
    worker = app.worker(concurrency=2)
    running = asyncio.create_task(worker.run())
    await claimed(app, 4)
    worker.stop_now() if now else worker.stop()
    if not now:
        await in_state(app, jobs[3], "queued")  # at once, while the others may still finish
        stuck.open()
    await asyncio.wait_for(running, 30)
    rows = [await app.get(job.id) for job in jobs]
    assert [row.state for row in rows] == [State.QUEUED if now else State.SUCCEEDED] * 2 + [State.QUEUED] * 2
    assert [(row.leased, row.failures) for row in rows] == [(False, 0)] * 4
    assert stuck.begun == [0, 1]


async def test_a_job_that_is_cancelled_before_it_is_begun_is_never_begun(app, stuck, always_ahead):
    jobs = await enqueue(app, 4)
    async with working(app, concurrency=2):
        await claimed(app, 4)
        await app.cancel(jobs[2].id)
        await eventually(lambda: asyncio.ensure_future(_let_go(app, jobs[2])))
        stuck.open()
        assert (await ended(app, jobs[3])).state is State.SUCCEEDED
    assert (await app.get(jobs[2].id)).state is State.CANCELLED
    assert stuck.begun == [0, 1, 3]


async def _let_go(app, job):
    return not (await app.get(job.id)).leased


async def test_the_leases_of_what_waits_are_renewed(opened, monkeypatch):
    monkeypatch.setattr(Pace, "ending_soon", lambda _, young: young)
    monkeypatch.setattr(Pace, "patience", 3600.0)
    app = await opened(lease_seconds=0.6)
    gate, runs = Gate(), []

    @app.operation("stuck")
    async def stuck(ctx, n: int):
        runs.append(n)
        await gate.wait()

    jobs = await enqueue(app, 2)
    async with working(app, concurrency=1):
        rows = await claimed(app, 2)
        until = max(row.lease_until for row in rows)

        async def renewed_twice():
            return all([(await app.get(job.id)).lease_until > until for job in jobs])

        await eventually(lambda: asyncio.ensure_future(renewed_twice()))
        gate.open()
        for job in jobs:
            assert (await ended(app, job)).attempt == 1
    assert runs == [0, 1]


async def test_what_is_claimed_ahead_counts_for_the_cap_of_its_queue(app, always_ahead):
    now, most = Counter(), Counter()

    @app.operation("work", queue="q")
    async def work(ctx, n: int):
        rows = await app.list(queue="q", state="running", limit=200)
        most["leased"] = max(most["leased"], len(rows))
        now["inside"] += 1
        most["inside"] = max(most["inside"], now["inside"])
        await asyncio.sleep(0)
        now["inside"] -= 1

    await app.queues.cap("q", 3)
    jobs = await app.enqueue_many([{"operation": "work", "payload": n} for n in range(30)])
    async with working(app, "q", concurrency=2):
        for job in jobs:
            assert (await ended(app, job)).state is State.SUCCEEDED
    assert most["leased"] <= 3
    assert most["inside"] <= 2


async def test_what_is_claimed_ahead_counts_for_the_cap_of_its_lane(app, stuck, always_ahead):
    await app.queues.lane("default", "alice", max_slots=3)
    jobs = await enqueue(app, 10, tenant="alice")
    async with working(app, concurrency=2):
        await claimed(app, 3)
        assert stuck.begun == [0, 1]
        assert [(await app.get(job.id)).reason for job in jobs[3:]] == ["capped"] * 7
        stuck.open()
        for job in jobs:
            assert (await ended(app, job)).state is State.SUCCEEDED
    assert sorted(stuck.begun) == list(range(10))


async def test_a_later_urgent_job_does_not_wait_for_those_claimed_ahead(app, monkeypatch, always_ahead):
    monkeypatch.setattr(Pace, "ending_soon", lambda *_: 2)
    gate, order = Gate(), []

    @app.operation("work")
    async def work(ctx, name: str):
        order.append(name)
        await gate.wait()

    worker = app.worker(concurrency=1)
    running = asyncio.create_task(worker.run())
    jobs = [await app.enqueue("work", "first")]
    await gate.until_reached()
    jobs.append(await app.enqueue("work", "waits"))
    await eventually(lambda: worker._slots.waiting == 1)
    jobs.append(await app.enqueue("work", "urgent", priority=0))
    await eventually(lambda: worker._slots.waiting == 2)
    gate.open()
    for job in jobs:
        await ended(app, job)
    worker.stop()
    await running
    assert order == ["first", "urgent", "waits"]


async def test_explain_tells_what_is_claimed_from_what_has_begun(app, stuck, always_ahead):
    jobs = await enqueue(app, 4)
    async with working(app, concurrency=2):
        await claimed(app, 4)
        told = [await app.explain(job.id) for job in jobs]
        assert [each.reason for each in told] == ["running", "running", "claimed", "claimed"]
        [worker] = await app.workers()
        assert told[3].sentence == f"it is claimed by worker {worker.id} and starts when a slot is free"
        await app.cancel(jobs[0].id)
        await eventually(lambda: 2 in stuck.begun)
        assert (await app.explain(jobs[2].id)).reason == "running"
        assert (await app.explain(jobs[3].id)).reason == "claimed"
        stuck.open()


async def test_a_workers_own_word_counts_its_slots_and_not_what_it_has_claimed_ahead(opened, always_ahead):
    app = await opened(lease_seconds=0.6)
    gate = Gate()

    @app.operation("stuck")
    async def stuck(ctx, n: int):
        await gate.wait()

    await enqueue(app, 4)
    async with working(app, concurrency=2):
        await claimed(app, 4)
        [before] = await app.workers()

        async def beaten():
            [row] = await app.workers()
            return row if row.seen_at > before.seen_at and row.running else None

        assert (await eventually(beaten)).running == 2
        gate.open()

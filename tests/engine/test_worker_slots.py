"""How much a worker takes, from where, and what holds it back."""

import asyncio
import collections

import pytest

from tests.engine.working import Gate, ended, eventually, in_state, working
from towpath import ConfigurationError, SchemaInvalid, State


class Crowd:
    """Counts who is inside at once, per label."""

    def __init__(self):
        self.now, self.most = collections.Counter(), collections.Counter()

    async def visit(self, *labels):
        for label in labels:
            self.now[label] += 1
            self.most[label] = max(self.most[label], self.now[label])
        await asyncio.sleep(0.005)
        for label in labels:
            self.now[label] -= 1


async def test_a_worker_never_runs_more_than_its_concurrency(app):
    crowd = Crowd()

    @app.operation("work")
    async def work(ctx):
        await crowd.visit("all")

    @app.operation("thread")
    def in_thread(ctx):
        ctx.wait(crowd.visit("all"))

    jobs = await app.enqueue_many([{"operation": "work"}] * 40 + [{"operation": "thread"}] * 10)
    async with working(app, concurrency=3):
        for job in jobs:
            await ended(app, job)
    assert crowd.most["all"] == 3


async def test_several_queues_take_turns(app):
    order = []
    for queue in ("a", "b", "c"):

        @app.operation(f"work.{queue}", queue=queue)
        async def work(ctx):
            order.append(ctx.queue)

    jobs = await app.enqueue_many([{"operation": f"work.{queue}"} for queue in "abc" for _ in range(10)])
    async with working(app, "a", "empty", "b", "c", concurrency=1):
        for job in jobs:
            await ended(app, job)
    for start in range(0, 30, 3):
        assert sorted(order[start : start + 3]) == ["a", "b", "c"]


async def test_a_worker_serves_the_queues_of_its_operations_unless_told_otherwise(app):
    @app.operation("here", queue="here")
    async def here(ctx): ...

    @app.operation("there", queue="there")
    async def there(ctx): ...

    first, second = await app.enqueue("here"), await app.enqueue("there")
    async with working(app, "here"):
        await ended(app, first)
        assert (await app.get(second.id)).state is State.QUEUED
    async with working(app):
        await ended(app, second)


async def test_a_paused_queue_starts_nothing_and_goes_on_when_resumed(app):
    gate = Gate()

    @app.operation("work", queue="q")
    async def work(ctx, payload):
        if payload == "first":
            await gate.wait()

    @app.operation("other", queue="other")
    async def other(ctx): ...

    first = await app.enqueue("work", "first")
    async with working(app):
        await gate.until_reached()
        await app.queues.pause("q")
        second = await app.enqueue("work", "second")
        gate.open()
        await ended(app, first)  # what runs goes on
        for _ in range(3):
            await ended(app, await app.enqueue("other"))
        assert (await app.get(second.id)).state is State.QUEUED
        [view] = [view for view in await app.queues.list() if view.name == "q"]
        assert view.paused
        await app.queues.resume("q")
        await ended(app, second)
    assert not any(view.paused for view in await app.queues.list())


async def test_a_queues_cap_holds_over_all_workers(app, opened):
    crowd, other = Crowd(), await opened()
    for each in (app, other):

        @each.operation("work", queue="q")
        async def work(ctx):
            await crowd.visit("q")

    await app.queues.cap("q", 2)
    jobs = await app.enqueue_many([{"operation": "work"}] * 30)
    async with working(app, concurrency=8), working(other, concurrency=8):
        for job in jobs:
            await ended(app, job)
    assert crowd.most["q"] <= 2


async def test_a_lanes_cap_holds_and_delays_nobody_else(app, opened):
    crowd, other = Crowd(), await opened()
    for each in (app, other):

        @each.operation("work", queue="q")
        async def work(ctx):
            await crowd.visit(ctx.tenant)

    await app.queues.lane("q", "capped", max_slots=2)
    capped = await app.enqueue_many([{"operation": "work", "tenant": "capped"}] * 20)
    free = await app.enqueue_many([{"operation": "work", "tenant": "free"}] * 20)
    async with working(app, concurrency=4), working(other, concurrency=4):
        for job in free + capped:
            assert (await ended(app, job)).state is State.SUCCEEDED
    assert crowd.most["capped"] <= 2
    assert crowd.most["free"] > 2


async def test_a_cap_of_zero_stops_a_lane_until_it_is_lifted(app):
    @app.operation("work", queue="q")
    async def work(ctx): ...

    await app.queues.lane("q", "alice", max_slots=0)
    job = await app.enqueue("work", tenant="alice")
    async with working(app):
        await ended(app, await app.enqueue("work", tenant="bob"))
        assert (await app.get(job.id)).reason == "capped"
        await app.queues.lane("q", "alice", max_slots=None)
        await ended(app, job)
    assert [(lane.lane, lane.max_slots) for lane in await app.queues.lanes("q")] == [("alice", None)]


async def test_with_a_cap_on_open_roots_the_oldest_is_finished_before_the_next_is_begun(app):
    begun = []

    @app.operation("page", queue="q")
    async def page(ctx, n):
        begun.append(n)

    @app.operation("upload", queue="q")
    async def upload(ctx, n):
        await ctx.gather("page", [n] * 3)

    await app.queues.lane("q", "alice", max_roots=2)
    jobs = await app.enqueue_many([{"operation": "upload", "payload": n, "tenant": "alice"} for n in range(6)])
    async with working(app, concurrency=4):
        for job in jobs:
            await ended(app, job)
    ended_at = [(await app.get(job.id)).finished_at for job in jobs]
    for index, job in enumerate(jobs[2:], 2):
        started = (await app.get(job.id)).started_at
        assert sum(moment > started for moment in ended_at[:index]) < 2


@pytest.mark.parametrize(
    "options",
    [{"max_slots": -1}, {"max_roots": -1}, {"weight": 0}, {"weight": float("nan")}, {"max_slots": 1, "max_roots": 1}],
)
async def test_a_lane_that_makes_no_sense_is_refused(app, options):
    with pytest.raises(SchemaInvalid):
        await app.queues.lane("q", "alice", **options)
    assert await app.queues.lanes("q") == []


async def test_a_worker_without_slots_is_refused(app):
    with pytest.raises(ConfigurationError, match="concurrency"):
        await app.run_worker(concurrency=0)


async def test_a_heavier_lane_gets_its_share(app):
    order = []

    @app.operation("work", queue="q")
    async def work(ctx):
        order.append(ctx.tenant)

    await app.queues.lane("q", "heavy", weight=3)
    jobs = await app.enqueue_many(
        [{"operation": "work", "tenant": tenant} for tenant in ("light", "heavy") for _ in range(30)]
    )
    async with working(app, concurrency=1):
        for job in jobs:
            await ended(app, job)
    assert order[:20].count("heavy") == 15


async def test_jobs_that_nobody_knows_are_set_aside_and_adopted(app, opened):
    """An old worker meets a new operation: it does not block the queue, and whoever knows it takes it up."""

    @app.operation("known", queue="q")
    async def known(ctx): ...

    newer = await opened()

    @newer.operation("new", queue="q")
    async def new(ctx):
        return ctx.attempt

    jobs = [await newer.enqueue("new") for _ in range(3)]
    async with working(app, concurrency=1):
        await ended(app, await app.enqueue("known"))
        for job in jobs:
            await eventually(lambda job=job: _set_aside(app, job))
    row = await app.get(jobs[0].id)
    assert (row.state, row.failures, row.leased) == (State.QUEUED, 0, False)
    async with working(newer):
        assert [await newer.result(job.id, timeout=20) for job in jobs] == [1, 1, 1]


async def test_a_worker_that_is_already_running_takes_back_what_an_older_one_set_aside(opened):
    older, newer = await opened(), await opened()

    @older.operation("known")
    async def known(ctx): ...

    @newer.operation("brand_new")
    async def brand_new(ctx):
        return "done"

    async with working(newer, "elsewhere"):  # it serves another queue, so that the older one gets the job first
        job = await newer.enqueue("brand_new")
        async with working(older, "default"):
            await eventually(lambda: _set_aside(older, job))
        await eventually(lambda: _ready_again(newer, job))


async def _ready_again(app, job):
    return (await app.get(job.id)).ready


async def _set_aside(app, job):
    return (await app.get(job.id)).reason == "no_handler"


async def test_an_idle_worker_is_woken_by_the_enqueue_of_another_process(opened):
    patient, caller = await opened(poll_seconds=600), await opened()

    @patient.operation("work")
    async def work(ctx):
        return "woken"

    @caller.operation("work")
    async def same(ctx): ...

    async with working(patient):
        await eventually(patient.workers)
        job = await caller.enqueue("work")
        assert await caller.result(job.id, timeout=20) == "woken"
        held = await caller.enqueue("work", delay=0.2)
        await in_state(caller, held, "succeeded")

"""Estimates come from what is ahead, who works and how long that takes; where they cannot, there is a reason."""

import asyncio
from datetime import timedelta

import pytest

from tests.engine.working import Gate, ended, eventually, in_state, on_sqlite, working
from towpath import App, Context, Parts, Work
from towpath.core import histogram
from towpath.engine.tending.rollups import add_histograms, roll_up, slot_of
from towpath.testing import FakeClock


async def told(app: App, *subjects: str):
    """The prospects of the jobs on these subjects, the oldest first."""
    found = await app.subjects.prospects("order", subjects)
    return [found[job] for job in sorted(found)]


async def middle(app: App, subject: str) -> float:
    [one] = await told(app, subject)
    assert one.eta is not None, one.reason
    low, high = one.eta
    assert 0 < low < high
    return (low * high) ** 0.5


async def took(app: App, operation: str, *seconds: float, queue: str = "default", ago: timedelta = timedelta(0)) -> None:
    """As if jobs of the operation had taken so long, so long ago."""

    async def unit(tx) -> None:
        quarter = slot_of((tx.now - ago).replace(second=0, microsecond=0), tx.now, of=15)
        counts = histogram.count(seconds)
        await add_histograms(tx, {(queue, operation, quarter, "run", bucket): n for bucket, n in counts.items()})  # type: ignore[arg-type]  # a mapping will do

    await app.services.store.run(unit)


def packing(app: App, gate: Gate | None = None) -> None:
    @app.operation("pack")
    async def pack(ctx: Context) -> None:
        if gate is not None:
            await gate.wait()


class TestTruth:
    """A clock that only moves when something is worked on shows how long things really took."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @on_sqlite
    async def test_what_is_told_holds_for_nine_of_ten_looks_at_jobs_that_differ(self, new_app, clock):
        script = [0.5, 0.9, 0.6, 1.1, 0.7, 1.0, 0.4, 0.8, 0.6, 0.9]
        durations, gates, ends = {}, {}, {}
        app = new_app(clock=clock)

        @app.operation("pack")
        async def pack(ctx: Context) -> None:
            number = ctx.subject[1]
            await gates[number].wait()
            clock.advance(durations[number])
            ends[number] = clock()

        def add(number: int) -> str:
            name = f"{number:03}"
            durations[name], gates[name] = script[number % 10], Gate()
            return name

        async with app:
            learned = [add(number) for number in range(10)]
            for name in learned:
                gates[name].open()
                await app.enqueue("pack", subject=("order", name))
            async with working(app, concurrency=1):
                await eventually(lambda: len(ends) == 10)
                await eventually(lambda: _ended(app, "pack", 10))
                await roll_up(app.services.store)
                asked = [add(number) for number in range(10, 20)]
                for name in asked:
                    await app.enqueue("pack", subject=("order", name), tenant=f"t{int(name) % 3}")
                looks = await self._look_until_done(app, clock, gates, ends, asked)
        right = [low <= ends[name] - at <= high for name, at, (low, high) in looks]
        assert len(right) == 55  # ten waited at first, then nine
        assert sum(right) / len(right) >= 0.9
        # A range that says nothing would hold as well.
        assert sorted(high / low for _, _, (low, high) in looks)[len(looks) // 2] < 10

    async def _look_until_done(self, app, clock, gates, ends, asked):
        looks = []
        left = set(asked)
        while left:
            running = await eventually(lambda: next((name for name in left if gates[name].reached.is_set()), None))
            jobs = {job.id: job.subject_id for job in await app.list(operation="pack", limit=100)}
            found = await app.subjects.prospects("order", sorted(left))
            assert {jobs[job] for job in found} == left
            looks += [(jobs[job], clock(), one.eta) for job, one in found.items()]
            gates[running].open()
            left.remove(running)
            await eventually(lambda name=running: name in ends)
        return looks

    @on_sqlite
    async def test_a_running_job_that_tells_its_progress_is_measured_by_it(self, new_app, clock):
        app, gate = new_app(clock=clock), Gate()

        @app.operation("pack")
        async def pack(ctx: Context) -> None:
            clock.advance(3.0)
            await ctx.progress(30, 100)
            await gate.wait()

        async with app:
            await took(app, "pack", *[500.0] * 10)
            job = await app.enqueue("pack", subject=("order", "A1"))
            async with working(app, concurrency=1):
                await gate.until_reached()
                await eventually(lambda: _progressed(app, job.id))
                [one] = await told(app, "A1")
                assert one.eta[0] < 7.0 < one.eta[1] < 30.0
                gate.open()
                await ended(app, job)

    @on_sqlite
    async def test_children_that_are_done_show_how_long_the_others_take(self, new_app, clock):
        """Whatever was usual, and whatever the product said: three of six took two seconds each."""
        app, gate = new_app(clock=clock), Gate()

        @app.workload("order")
        async def workload(jobs) -> dict[str, Work]:
            return {job.job_id: Work(1.0, Parts(6, 1.0, 900.0), 0.1) for job in jobs}

        @app.operation("box")
        async def box(ctx: Context, number: int) -> None:
            if number == 3:
                await gate.wait()
            clock.advance(2.0)

        @app.operation("pack")
        async def pack(ctx: Context) -> None:
            await ctx.gather("box", range(6))

        async with app:
            job = await app.enqueue("pack", subject=("order", "A1"))
            assert (await told(app, "A1"))[0].eta is None
            async with working(app, concurrency=1):
                await gate.until_reached()
                [one] = await told(app, "A1")
                assert one.position is None
                assert one.eta[0] < 6.0 < one.eta[1] < 60.0
                gate.open()
                await ended(app, job)


async def _ended(app: App, operation: str, count: int) -> bool:
    return len(await app.list(operation=operation, state="succeeded")) == count


async def _progressed(app: App, job_id: str) -> bool:
    return (await app.get(job_id)).progress_current == 30


async def test_what_is_ahead_counts_and_more_slots_are_done_sooner(app):
    gate = Gate()
    packing(app, gate)
    await took(app, "pack", *[60.0] * 20)
    for number in range(8):
        await app.enqueue("pack", subject=("order", f"{number}"))
    async with working(app, concurrency=1):
        await gate.until_reached()
        first, last = await middle(app, "1"), await middle(app, "7")
        assert last > 2 * first
        async with working(app, concurrency=7):
            await eventually(lambda: _all_running(app, 8))
            assert await middle(app, "7") < last / 2
        gate.open()


async def _all_running(app: App, count: int) -> bool:
    return len(await app.list(state="running")) == count


async def test_lately_is_what_counts_and_else_the_days_before(app):
    gate = Gate()
    packing(app, gate)
    await took(app, "pack", *[600.0] * 20, ago=timedelta(days=3))
    await app.enqueue("pack", subject=("order", "A1"))
    async with working(app, concurrency=1):
        await gate.until_reached()
        before = await middle(app, "A1")
        assert before > 100
        await took(app, "pack", *[6.0] * 5)
        assert await middle(app, "A1") < before / 10
        gate.open()


async def test_the_more_the_runs_differ_the_wider_is_the_range(app):
    gate = Gate()
    packing(app, gate)
    await app.enqueue("pack", subject=("order", "A1"))
    async with working(app, concurrency=1):
        await gate.until_reached()
        await took(app, "pack", *[30.0] * 20)
        [alike] = await told(app, "A1")
        await took(app, "pack", *[2.0] * 20, *[300.0] * 10)
        [unlike] = await told(app, "A1")
        gate.open()
    assert unlike.eta[1] / unlike.eta[0] > 2 * alike.eta[1] / alike.eta[0]


async def test_others_of_the_same_kind_show_how_many_children_there_will_be(app):
    gate = Gate()

    @app.operation("box")
    async def box(ctx: Context, number: int) -> None:
        await gate.wait()

    @app.operation("pack")
    async def pack(ctx: Context) -> None:
        await ctx.gather("box", range(10))

    await took(app, "box", *[60.0] * 20)
    await took(app, "pack", *[1.0] * 20)
    await app.enqueue("pack", subject=("order", "A1"))
    async with working(app, concurrency=1):
        await gate.until_reached()
        await app.enqueue("pack", subject=("order", "A2"))
        assert await middle(app, "A2") > 300  # ten minutes each, if one did them
        gate.open()


async def test_a_job_whose_children_are_in_another_queue_waits_there(app):
    gate = Gate()

    @app.operation("box", queue="boxes")
    async def box(ctx: Context, number: int) -> None:
        await gate.wait()

    @app.operation("pack")
    async def pack(ctx: Context) -> None:
        await ctx.gather("box", range(3))

    await took(app, "box", *[60.0] * 20, queue="boxes")
    job = await app.enqueue("pack", subject=("order", "A1"))
    async with working(app, "default"):
        await in_state(app, job, "waiting")
        [one] = await told(app, "A1")
        assert (one.position, one.eta, one.reason) == (None, None, "no live worker serves the queue 'boxes'")
        async with working(app, "boxes", concurrency=1):
            await gate.until_reached()
            assert 60 < await middle(app, "A1") < 600
            gate.open()
            await ended(app, job)


class TestReasons:
    async def _reason(self, app: App, subject: str = "A1") -> tuple[int | None, str]:
        [one] = await told(app, subject)
        assert one.eta is None
        return one.position, one.reason

    async def test_nobody_works(self, app):
        packing(app)
        await took(app, "pack", *[1.0] * 10)
        await app.enqueue("pack", subject=("order", "A1"))
        assert await self._reason(app) == (1, "no live worker serves the queue 'default'")

    async def test_the_queue_is_paused_also_for_what_is_begun(self, app):
        gate = Gate()
        packing(app, gate)
        await took(app, "pack", *[1.0] * 10)
        await app.enqueue("pack", subject=("order", "A1"))
        async with working(app, concurrency=1):
            await gate.until_reached()
            await app.enqueue("pack", subject=("order", "A2"))
            await app.queues.pause("default")
            assert await self._reason(app) == (None, "the queue 'default' is paused")
            assert await self._reason(app, "A2") == (1, "the queue 'default' is paused")
            await app.queues.resume("default")
            assert (await told(app, "A2"))[0].eta is not None
            gate.open()

    async def test_no_worker_knows_how(self, app):
        packing(app)
        await took(app, "pack", *[1.0] * 10)
        await app.enqueue("pack", subject=("order", "A1"))
        await app.services.store.run(
            lambda tx: tx.execute(
                "put_worker", id="w", name="w", queues='["default"]', operations='["sweep"]', concurrency=4, running=0,
                version="0", process="p", now=tx.now, alive_until=tx.now + timedelta(minutes=1),
            )
        )  # fmt: skip
        assert await self._reason(app) == (1, "no live worker of the queue 'default' knows this kind of work")

    async def test_nothing_of_its_kind_has_ended_yet(self, app):
        gate = Gate()
        packing(app, gate)
        await app.enqueue("pack", subject=("order", "A1"))
        async with working(app, concurrency=1):
            await gate.until_reached()
            reason = "no job of the operation 'pack' has ended here lately, to estimate by"
            assert await self._reason(app) == (None, reason)
            gate.open()

    async def test_nobody_knows_how_long_what_comes_before_it_takes(self, app):
        gate = Gate()
        packing(app, gate)
        app.operation("sweep")(_nothing)
        await took(app, "pack", *[1.0] * 10)
        await app.enqueue("pack", subject=("order", "A1"))
        async with working(app, concurrency=1):
            await gate.until_reached()
            await app.enqueue("sweep")
            await app.enqueue("pack", subject=("order", "A2"))
            position, reason = await self._reason(app, "A2")
            assert (position, "'sweep'" in reason) == (2, True)
            gate.open()

    async def test_it_waits_for_its_time_a_signal_or_a_lane_that_may_have_nothing(self, app):
        packing(app)

        @app.operation("ask")
        async def ask(ctx: Context) -> None:
            await ctx.wait_for("yes", timeout=3600)

        await app.queues.lane("default", "shut", max_slots=0)
        await app.enqueue("pack", subject=("order", "late"), delay=3600)
        await app.enqueue("pack", subject=("order", "shut"), lane="shut")
        asking = await app.enqueue("ask", subject=("order", "asking"))
        async with working(app):
            await in_state(app, asking, "waiting")
            reasons = [await self._reason(app, one) for one in ("late", "shut", "asking")]
        sentences = [(await app.explain(job.id)).sentence for job in sorted(await app.list(), key=lambda job: job.id)]
        assert reasons == [(None, "it is scheduled for later"), *[(None, sentence) for sentence in sentences[1:]]]
        assert "may use nothing" in reasons[1][1]
        assert "'yes'" in reasons[2][1]

    async def test_the_product_says_why_it_cannot_say(self, new_app):
        app, gate = new_app(), Gate()
        packing(app, gate)

        @app.workload("order")
        async def workload(jobs) -> dict[str, Work]:
            return {job.job_id: Work(1.0, reason="nobody has weighed it") for job in jobs if job.subject_id == "A1"}

        async with app:
            await took(app, "pack", *[1.0] * 10)
            await app.enqueue("pack", subject=("order", "A1"))
            async with working(app, concurrency=2):
                await gate.until_reached()
                assert await self._reason(app) == (None, "nobody has weighed it")
                await app.cancel((await app.list())[0].id)
                await app.enqueue("pack", subject=("order", "A2"))
                assert (await told(app, "A2"))[0].eta is not None  # whom it said nothing about
                gate.open()


async def _nothing(ctx: Context) -> None:
    await asyncio.sleep(0)

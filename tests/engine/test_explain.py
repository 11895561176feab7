"""Why a job is where it is, for every reason there is."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from tests.contracts.stores import Hands, worker_row
from tests.engine.crashing import register
from tests.engine.working import Gate, ended, eventually, happened, in_state, on_sqlite, working
from towpath import Fatal, JobNotFound, Partial, RateLimited, Retry, RetryLater, Transient


async def told(app, job, **expected):
    explanation = await app.explain(job.id)
    for name, value in expected.items():
        assert getattr(explanation, name) == value, explanation
    assert explanation.job_id == job.id
    assert explanation.sentence
    return explanation


@pytest.fixture
def app(app):
    @app.operation("work", queue="q")
    async def work(ctx, payload): ...

    return app


async def test_a_scheduled_job_says_when(app):
    when = datetime.now(UTC) + timedelta(hours=1)
    job = await app.enqueue("work", run_at=when)
    explanation = await told(app, job, state="queued", reason="scheduled", position=None)
    assert abs(explanation.until - when) < timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("error", "reason", "words"),
    [
        (Transient("down"), "retry", "failure 1 of 3"),
        (RateLimited(retry_after=600), "rate_limited", "slow down"),
        (RetryLater("GPU busy", 600), "retry_later", "later"),
    ],
)
async def test_a_job_that_comes_back_says_why_and_when(app, error, reason, words):
    @app.operation("fails", queue="q", retry=Retry(base=500, jitter=False))
    async def fails(ctx):
        raise error

    job = await app.enqueue("fails")
    async with working(app):
        await eventually(lambda: _has_reason(app, job, reason))
    explanation = await told(app, job, state="queued", reason=reason)
    assert words in explanation.sentence
    assert explanation.until > datetime.now(UTC) + timedelta(seconds=200)


async def _has_reason(app, job, reason):
    return (await app.get(job.id)).reason == reason


async def test_a_job_that_nobody_knows_says_so(app, opened):
    other = await opened()
    job = await other.enqueue("unheard", queue="q")
    async with working(app):
        await eventually(lambda: _has_reason(app, job, "no_handler"))
    assert "'unheard'" in (await told(app, job, reason="no_handler")).sentence


async def test_a_capped_job_says_how_much_its_lane_may_use(app):
    await app.queues.lane("q", "alice", max_slots=1)
    await app.queues.lane("q", "bob", max_roots=1)
    for tenant, words in (("alice", "1 slots"), ("bob", "1 jobs open")):
        first, second = [await app.enqueue("work", tenant=tenant) for _ in range(2)]
        assert words in (await told(app, second, reason="capped")).sentence
        assert (await app.explain(first.id)).reason == "no_worker"


async def test_a_capped_job_does_not_say_that_slots_are_taken_when_nobody_works(app):
    await app.queues.lane("q", "alice", max_slots=1)
    _, second = [await app.enqueue("work", tenant="alice") for _ in range(2)]
    explanation = await told(app, second, reason="capped")
    assert "no live worker serves the queue 'q'" in explanation.sentence
    assert "taken" not in explanation.sentence
    assert explanation.remedy == "towpath worker --app module:app --queues q"


async def test_a_capped_job_says_that_slots_are_taken_when_they_are(app):
    gate = Gate()

    @app.operation("holds", queue="q")
    async def holds(ctx):
        await gate.wait()

    await app.queues.lane("q", "alice", max_slots=1)
    await app.enqueue("holds", tenant="alice")
    async with working(app):
        await gate.until_reached()
        second = await app.enqueue("work", tenant="alice")
        assert "all are taken" in (await told(app, second, reason="capped", remedy=None)).sentence
        gate.open()


async def test_slots_that_nobody_has_taken_yet_are_kept_for_the_jobs_before_it(app):
    """A worker is there, and has not come to them: what is ready has the lane's room, and nothing of it runs."""
    await app.queues.lane("q", "alice", max_slots=1)
    _, second = [await app.enqueue("work", tenant="alice") for _ in range(2)]
    await _beat(app, 30.0)
    assert "they are kept for jobs before it" in (await told(app, second, reason="capped", remedy=None)).sentence


@pytest.mark.parametrize(("cap", "option"), [("max_slots", "--slots"), ("max_roots", "--roots")])
async def test_a_lane_that_may_use_nothing_says_what_opens_it(app, cap, option):
    await app.queues.lane("q", "alice", **{cap: 0})
    job = await app.enqueue("work", tenant="alice")
    explanation = await told(app, job, reason="capped", remedy=f"towpath queues lane q alice {option} 1")
    assert "may use nothing of 'q'" in explanation.sentence


async def test_a_paused_queue_and_a_missing_worker_come_with_a_remedy(app):
    first, second = await app.enqueue("work"), await app.enqueue("work")
    explanation = await told(app, second, reason="no_worker", position=1)
    assert "towpath worker" in explanation.remedy
    await app.queues.pause("q")
    explanation = await told(app, first, reason="paused")
    assert explanation.remedy == "towpath queues resume q"


async def test_a_full_queue_says_what_it_runs(app):
    gate = Gate()

    @app.operation("holds", queue="q")
    async def holds(ctx):
        await gate.wait()

    await app.queues.cap("q", 1)
    await app.enqueue("holds")
    async with working(app):
        await gate.until_reached()
        job = await app.enqueue("work")
        assert "1 of 1" in (await told(app, job, reason="queue_capped", position=0)).sentence
        gate.open()
        await ended(app, job)


async def test_a_ready_job_says_how_many_are_before_it_and_how_long_that_may_take(app):
    gate = Gate()

    @app.operation("holds", queue="q")
    async def holds(ctx):
        await gate.wait()

    async with working(app, concurrency=1):
        await ended(app, await app.enqueue("work"))
        running = await app.enqueue("holds")
        await gate.until_reached()
        await told(app, running, state="running", reason="running", position=None)
        jobs = [await app.enqueue("work") for _ in range(3)]
        await told(app, jobs[0], reason="next", position=0)
        assert "2 jobs" in (await told(app, jobs[2], reason="behind", position=2)).sentence
        await eventually(lambda: _has_eta(app, jobs[2]))
        low, high = (await app.explain(jobs[2].id)).eta_seconds
        assert 0 < low < high
        gate.open()


async def _has_eta(app, job):
    return (await app.explain(job.id)).eta_seconds is not None


async def test_a_waiting_job_says_what_for(app):
    @app.operation("waits", queue="q")
    async def waits(ctx, what):
        if what == "sleep":
            await ctx.sleep(3600)
        if what == "signal":
            await ctx.wait_for("go", key="order:7")
        await ctx.gather("work", [1, 2], queue="unserved")

    words = {"sleep": "sleeps", "signal": "waits for the signal 'go'", "children": "2 of 2 children"}
    jobs = {what: await app.enqueue("waits", what) for what in words}
    async with working(app):
        for what, job in jobs.items():
            await in_state(app, job, "waiting")
            explanation = await told(app, job, state="waiting", reason=what)
            assert words[what] in explanation.sentence
            assert explanation.until > datetime.now(UTC)


async def test_an_ended_job_says_how_it_ended_and_what_to_do(app):
    @app.operation("ends", queue="q")
    async def ends(ctx, how):
        if how == "failed":
            raise Fatal("the page is blank", remedy="scan it again")
        return Partial() if how == "partial" else None

    jobs = {how: await app.enqueue("ends", how) for how in ("succeeded", "partial", "failed")}
    jobs["cancelled"] = await app.enqueue("work", delay=60)
    await app.cancel(jobs["cancelled"].id)
    async with working(app):
        for job in jobs.values():
            await ended(app, job)
    for how, job in jobs.items():
        explanation = await told(app, job, state=how)
        assert explanation.until is not None
    failed = await told(app, jobs["failed"], reason="fatal", remedy="scan it again")
    assert failed.sentence == "it failed: the page is blank"


@on_sqlite
async def test_a_job_whose_worker_fell_silent_says_so(opened, crashed_worker):
    app = await opened()
    register(app, crash=False)
    job = await app.enqueue("deadly")
    await crashed_worker(lease_seconds=0.2)
    explanation = await eventually(lambda: _lease_expired(app, job))
    assert "stopped answering, and no worker is alive" in explanation.sentence
    assert explanation.remedy == "towpath worker --app module:app --queues default"


async def test_a_job_whose_worker_fell_silent_says_when_it_is_rescued_at_the_latest(app):
    hands = Hands(app.services.store)
    job = await hands.start()
    await hands.run_out(job.id)
    await _beat(app, 30.0)
    assert "it will be rescued within 30 s" in (await told(app, job, reason="lease_expired", remedy=None)).sentence


async def test_a_lease_that_lasts_longer_than_any_is_not_believed(app):
    hands = Hands(app.services.store)
    job = await hands.start()
    await _beat(app, 30.0)
    await told(app, job, reason="running")
    await hands.shift("lease_until", 3600.0, job.id)
    assert "the clock was moved back" in (await told(app, job, reason="lease_expired")).sentence


async def test_a_killed_worker_is_alive_for_as_long_as_its_leases(app):
    """As long as its last beat renewed them; and one that said so before the clock was moved back is not alive."""
    job = await app.enqueue("work")
    await _beat(app, 30.0)
    await told(app, job, reason="next")
    hands = Hands(app.services.store)
    for moved in (-31, 3600):
        await _beat(app, 30.0)
        for column in ("seen_at", "alive_until"):
            by = f"{column} + {moved}" if hands.store.dialect == "sqlite" else f"{column} + interval '{moved} seconds'"
            await hands.sql(f"UPDATE {hands.table('worker')} SET {column} = {by} RETURNING 1 AS done")
        await told(app, job, reason="no_worker")
        [view] = await app.queues.list()
        assert view.workers == 0
        assert ("workers", "note") in {(found.topic, found.level) for found in await app.checkup()}


async def _beat(app, lease):
    heart = app.services.store.heart()
    await asyncio.to_thread(heart.beat, worker_row(), [], lease)
    await asyncio.to_thread(heart.close)


async def _lease_expired(app, job):
    explanation = await app.explain(job.id)
    return explanation if explanation.reason == "lease_expired" else None


async def test_a_position_is_the_number_of_claims_before_it(app):
    """Checked by draining: nothing else arrives, so the order told beforehand is the order of the starts."""
    jobs = []
    await app.queues.lane("q", "heavy", weight=3)
    for n in range(12):
        for tenant in ("alice", "bob", "heavy"):
            cost = 1 + (n % 3)
            jobs.append(await app.enqueue("work", n, tenant=tenant, cost=cost, priority=1 + (n % 4 == 3)))
    positions = {job.id: (await app.explain(job.id)).position for job in jobs}
    assert sorted(positions.values()) == list(range(len(jobs)))
    async with working(app, concurrency=1):
        for job in jobs:
            await ended(app, job)
    starts = [(await happened(app, job, "job.started"))[0] for job in jobs]
    order = [event.job_id for event in sorted(starts, key=lambda event: event.ts)]
    assert [positions[job_id] for job_id in order] == list(range(len(jobs)))


async def test_a_position_beyond_a_thousand_is_not_counted(app):
    jobs = await app.enqueue_many([{"operation": "work"}] * 1002)
    explanation = await told(app, jobs[-1], reason="no_worker", position=1000, position_is_more=True)
    assert "over 1,000" in explanation.sentence
    await told(app, jobs[1000], position=1000, position_is_more=False)


async def test_an_unknown_job_is_not_explained(app):
    with pytest.raises(JobNotFound):
        await app.explain("00000000-0000-7000-8000-000000000000")

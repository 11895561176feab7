"""What is old and ended goes, with everything that belongs to it; what failed stays unless somebody says otherwise."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from tests.engine.working import ended, eventually, happened, history, on_sqlite, working
from tests.soundness import batched_events
from towpath import Fatal, JobNotFound, NotRequeueable, State
from towpath.core.errors import StreamReset
from towpath.engine.asking.deltas import Deltas
from towpath.engine.tending import event_batches, retention, tombstones
from towpath.engine.tending.retention import prune
from towpath.testing import FakeClock

A_BLINK = 1e-9  # days


@pytest.fixture
async def app(opened):
    """A small world: one good family with blobs and steps, one failure, one that is not over."""
    app = await opened(inline_bytes=100)

    @app.operation("child")
    async def child(ctx, n):
        if n < 0:
            raise Fatal("negative")
        return "x" * 500

    @app.operation("parent")
    async def parent(ctx, numbers):
        await ctx.step("big", lambda: "y" * 500)
        await ctx.gather("child", numbers)
        await ctx.wait_for("go", timeout=60)
        return "z" * 500

    @app.operation("later", queue="unserved")
    async def later(ctx): ...

    return app


@pytest.fixture
async def prune_after(opened):
    """One round of pruning by other settings than those of the worker, which prunes by its own while it runs."""

    async def run(**days):
        return await prune((await opened(**days)).services)

    return run


async def _family(app, numbers):
    job = await app.enqueue("parent", numbers)
    await app.signal(job.id, "go")
    async with working(app, "default"):
        await ended(app, job)
    return job


def _blobs(tmp_path):
    return [path for path in (tmp_path / "blobs").rglob("*") if path.is_file() and "jobs" in Path(path).parts]


async def _rows(app, table):
    return await _count(app, f"towpath_{table}" if app.services.store.dialect == "sqlite" else f"towpath.{table}")


async def _batched_events(app):
    return await _count(app, batched_events(app.services.store.dialect))


async def _count(app, rows):
    async with app.transaction() as tx:
        return (await tx.fetch(f"SELECT count(*) AS n FROM {rows}"))[0]["n"]


async def test_an_old_family_goes_as_a_whole_with_its_history_and_blobs(app, prune_after, tmp_path):
    job = await _family(app, [1, 2])
    assert len(_blobs(tmp_path)) == 4
    open_one = await app.enqueue("later")
    assert await prune_after(keep_succeeded_days=A_BLINK) == 3
    with pytest.raises(JobNotFound, match="pruned"):
        await app.get(job.id)
    assert [row.id for row in await app.list()] == [open_one.id]
    assert _blobs(tmp_path) == []
    assert [await _rows(app, table) for table in ("step", "signal")] == [0, 0]
    assert (await _batched_events(app), await _rows(app, "event"), await _rows(app, "job_event")) == (1, 0, 1 + 3)


async def test_what_failed_is_kept_by_default(app, prune_after):
    job = await _family(app, [-1])
    await app.cancel((await app.enqueue("later")).id)
    assert await prune_after(keep_succeeded_days=A_BLINK) == 1
    assert (await app.get(job.id)).state is State.FAILED
    assert len(await app.inbox.jobs()) == 1


async def test_what_failed_goes_when_told_so(app, prune_after):
    good, bad = await app.enqueue("child", 1), await app.enqueue("child", -1)
    async with working(app, "default"):
        await ended(app, good)
        await ended(app, bad)
    assert await prune_after(keep_failed_days=A_BLINK) == 1
    assert [row.id for row in await app.list()] == [good.id]


async def test_what_is_young_enough_stays(app, prune_after):
    job = await app.enqueue("child", 1)
    async with working(app, "default"):
        await ended(app, job)
    assert await prune_after() == 0
    assert await prune_after(keep_succeeded_days=1, keep_failed_days=1) == 0
    assert [row.id for row in await app.list()] == [job.id]


async def test_event_batches_go_with_the_retention_that_was_set(app, prune_after):
    """They go by age, the history of a job stays."""
    job = await app.enqueue("later")
    await app.enqueue("later")

    async def batched(**days):
        await prune_after(**days)
        return await _batched_events(app)

    await _age(app, "event_batch", "ts", 3)
    assert await batched(keep_succeeded_days=0) == 2
    assert await batched(keep_succeeded_days=10) == 2
    assert await batched(keep_succeeded_days=2) == 0
    assert [event.name for event in await history(app, job)] == ["job.created"]


async def test_event_batches_stay_for_an_hour_in_any_case(app, prune_after):
    await app.enqueue("later")
    await prune_after(keep_succeeded_days=A_BLINK)
    assert await _batched_events(app) == 1


async def test_a_stream_that_comes_back_from_before_what_is_left_starts_over_and_a_younger_one_goes_on(app, prune_after):
    deltas = await Deltas.of(app.services.store)
    now = await deltas.now()
    old, young = (deltas.token(replace(now, at=now.at - hours * 3600)) for hours in (40, 30))
    assert (await deltas.place(old, within=timedelta(days=7))).since == now.since
    await app.enqueue("later")
    await _age(app, "event_batch", "ts", 3)
    await prune_after(keep_succeeded_days=2)
    with pytest.raises(StreamReset, match="expired"):
        await deltas.place(old, within=timedelta(days=7))
    assert (await deltas.place(young, within=timedelta(days=7))).since == now.since


@on_sqlite
async def test_a_floor_from_before_the_clock_was_moved_back_does_not_turn_streams_away_for_ever(opened):
    clock = FakeClock()
    app = await opened(clock=clock)
    deltas = await Deltas.of(app.services.store)
    clock._seconds += 365 * 86400
    await app.services.store.run(partial(tombstones.raise_floor, age=timedelta(days=2)))
    clock._seconds -= 365 * 86400
    before = deltas.token(await deltas.now())
    clock.advance(60)
    await app.services.store.run(partial(tombstones.raise_floor, age=timedelta(days=2)))
    with pytest.raises(StreamReset, match="expired"):  # what it could have seen may be gone
        await deltas.place(before, within=timedelta(days=7))
    clock.advance(60)
    assert await deltas.place(deltas.token(await deltas.now()), within=timedelta(days=7))


async def test_deletions_are_forgotten_with_the_retention_however_many_there_are(app, prune_after, monkeypatch):
    monkeypatch.setattr(tombstones, "_BATCH", 2)
    for _ in range(7):
        job = await app.enqueue("later")
        await app.cancel(job.id)
        await app.delete(job.id)
    await _age(app, "tombstone", "at", 2)
    await prune_after(keep_succeeded_days=3)
    assert await _rows(app, "tombstone") == 7
    await prune_after(keep_succeeded_days=1)
    assert await _rows(app, "tombstone") == 0


async def test_one_round_removes_all_jobs_that_are_old_enough_however_many_there_are(app, prune_after, monkeypatch):
    monkeypatch.setattr(retention, "_BATCH", 2)
    jobs = await app.enqueue_many([{"operation": "child", "payload": 1} for _ in range(150)])
    async with working(app, "default"):
        await ended(app, jobs[-1])
        await eventually(lambda: _all_over(app))
    assert await prune_after(keep_succeeded_days=A_BLINK) == 150
    assert await app.list() == []


async def _all_over(app):
    return not (await app.list(state="queued") or await app.list(state="running"))


async def test_large_families_go_a_few_at_a_time_and_whole(app, prune_after, monkeypatch):
    monkeypatch.setattr(retention, "_MOST_JOBS", 3)
    for numbers in ([1, 2, 3, 4], [1], [2]):
        await _family(app, numbers)
    sizes, remove = [], retention._remove

    async def counted(tx, **options):
        gone = await remove(tx, **options)
        sizes.append(len(gone))
        return gone

    monkeypatch.setattr(retention, "_remove", counted)
    assert await prune_after(keep_succeeded_days=A_BLINK) == 9
    assert sizes == [5, 2, 2]


async def _age(app, table, column, days):
    sqlite = app.services.store.dialect == "sqlite"
    name = f"towpath_{table}" if sqlite else f"towpath.{table}"
    moved = f"{column} - {days} * 86400" if sqlite else f"{column} - interval '{days} days'"
    async with app.transaction() as tx:
        await tx.execute(f"UPDATE {name} SET {column} = {moved}")


async def test_the_shortest_rule_says_how_long_streams_may_be_away_and_a_second_round_goes_on(opened, monkeypatch):
    """A stream is one of all queues: whoever comes back from before that has missed something of one of them in any case."""
    monkeypatch.setattr(event_batches, "_BATCH", 2)
    app = await opened(keep_succeeded_days=20)
    app.retain("short", succeeded_days=9, failed_days=0)
    app.retain("ever", succeeded_days=0, failed_days=0)

    @app.operation("work")
    async def work(ctx): ...

    async def make():
        for queue in ("short", "ever", "other"):
            await app.enqueue("work", queue=queue)

    for _ in range(2):
        await make()
        await _age(app, "event_batch", "ts", 10)
        await make()
        await prune(app.services)
        assert await _rows(app, "event_batch") == 3
    assert await _rows(app, "job_event") == 12


async def test_one_round_takes_as_many_batches_as_it_needs(opened, monkeypatch):
    """Rows that are made one by one must not come faster than they go."""
    monkeypatch.setattr(event_batches, "_BATCH", 2)
    app = await opened(keep_succeeded_days=9)

    @app.operation("work")
    async def work(ctx): ...

    for _ in range(9):
        await app.enqueue("work")
    await _age(app, "event_batch", "ts", 10)
    await prune(app.services)
    assert await _batched_events(app) == 0
    assert await _rows(app, "job_event") == 9


async def test_delete_removes_one_family_at_once(app, tmp_path):
    kept, gone = await _family(app, [1]), await _family(app, [2, 3])
    assert await app.delete(gone.id) == 3
    assert {row.root_id for row in await app.list()} == {kept.id}
    assert len(_blobs(tmp_path)) == 3
    with pytest.raises(JobNotFound):
        await app.delete(gone.id)
    assert len(await happened(app, kept, "job.created")) == 1


async def test_delete_refuses_what_is_live_and_what_is_a_child(app):
    live = await app.enqueue("later")
    with pytest.raises(NotRequeueable, match="cancel it first"):
        await app.delete(live.id)
    family = await _family(app, [1])
    [child] = await app.list(parent=family.id)
    with pytest.raises(NotRequeueable, match=family.id):
        await app.delete(child.id)
    assert len(await app.list()) == 3

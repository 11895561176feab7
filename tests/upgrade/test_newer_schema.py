"""A worker of this release on the schema of the next one: more columns, more tables, nothing missing."""

import pytest

from tests.upgrade.population import make_app
from towpath import Slice, State
from towpath.testing import drain

TABLES = [
    "job", "event", "event_batch", "step", "signal", "lane", "queue", "clock", "budget", "worker", "schedule", "count_delta",
    "rollup", "depth", "migration", "owned", "histogram", "upkeep", "lifetime", "lifetime_histogram", "histogram_minute",
    "lease", "usage_delta", "usage", "job_usage", "spend", "price", "occupancy", "idempotency", "tombstone", "declared",
    "notice", "provider_job", "spend_limit", "spend_account", "expense", "spend_waiter",
]  # fmt: skip


async def expand(app):
    """What a migration of the next release may do while this release's workers are still at work."""
    prefix = "towpath_" if app.url.startswith("sqlite") else "towpath."
    async with app.transaction() as tx:
        for table in TABLES:
            await tx.execute(f"ALTER TABLE {prefix}{table} ADD COLUMN added_later text NOT NULL DEFAULT 'later'")
        await tx.execute(f"CREATE TABLE {prefix}invention (id integer PRIMARY KEY, job_id text)")
        await tx.execute(f"CREATE INDEX job_later ON {prefix}job (added_later) WHERE state = 'failed'")
        await tx.execute(
            f"INSERT INTO {prefix}migration (slice, number, name, checksum, applied_at) "
            f"SELECT slice, 9999, name, checksum, applied_at FROM {prefix}migration "
            f"WHERE slice = 'engine' AND number = 1 AND revision = 0"
        )


@pytest.fixture
async def app(database_url, tmp_path):
    """Opened before the migration of the next release, and still open after it."""
    async with make_app(database_url, tmp_path / "blobs") as app:
        await expand(app)
        yield app


async def finished(app, job):
    await drain(app)
    return await app.get(job.id)


async def test_the_tables_of_the_engine_are_all_expanded_here(app):
    if app.url.startswith("sqlite"):
        query = "SELECT substr(name, 9) AS name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'towpath_%'"
    else:
        query = (
            "SELECT table_name AS name FROM information_schema.tables "
            "WHERE table_schema = 'towpath' AND table_type = 'BASE TABLE'"
        )
    async with app.transaction() as tx:
        assert {row["name"] for row in await tx.fetch(query)} == {*TABLES, "invention"}


async def test_jobs_are_enqueued_claimed_and_settled(app):
    one = await app.enqueue("work", {"say": "one"})
    many = await app.enqueue_many(
        [{"operation": "work", "payload": {"say": number}, "key": str(number)} for number in range(5)]
    )
    async with app.transaction() as tx:
        inside = await tx.enqueue("work", {"say": "inside"})
    assert await drain(app) == 7
    for job_id in [one.id, *(job.id for job in many), inside]:
        assert (await app.get(job_id)).state is State.SUCCEEDED


async def test_failures_partial_results_and_requeues_are_recorded(app):
    failed, half = await app.enqueue("broken"), await app.enqueue("half")
    assert (await finished(app, failed)).state is State.FAILED
    assert (await finished(app, half)).state is State.PARTIAL
    assert [group.jobs for group in await app.inbox.groups()] == [1]
    await app.requeue(failed.id)
    assert (await finished(app, failed)).state is State.FAILED


async def test_steps_waits_and_children_go_on(app):
    asker = await app.enqueue("asker")
    assert (await finished(app, asker)).state is State.WAITING
    await app.signal(asker.id, "answer", "yes")
    assert (await finished(app, asker)).result == "yes"
    assert (await finished(app, await app.enqueue("gatherer"))).result == [1, 2, 3]
    assert (await finished(app, await app.enqueue("closer"))).state is State.SUCCEEDED


async def test_caps_pauses_cancels_and_explanations_work(app):
    await app.queues.lane("work", "alice", max_slots=1)
    jobs = await app.enqueue_many([{"operation": "work", "payload": {}, "tenant": "alice"}] * 3)
    await app.queues.pause("work")
    assert await drain(app) == 0
    assert (await app.explain(jobs[0].id)).reason == "paused"
    assert (await app.explain(jobs[2].id)).reason == "capped"
    await app.cancel(jobs[1].id)
    await app.queues.resume("work")
    assert await drain(app) == 2
    assert [lane.max_slots for lane in await app.queues.lanes("work")] == [1]


async def test_looking_around_and_cleaning_up_work(app):
    job = await app.enqueue("work", {"say": "hello"})
    await drain(app)
    assert [step.name for step in await app.steps(job.id)] == ["measure"]
    assert [event.name async for event in app.events(job_id=job.id)][-1] == "job.succeeded"
    assert [worker.name for worker in await app.workers()] == ["drain"]
    assert [plan.name for plan in await app.schedules.list()] == ["nightly"]
    assert await app.delete(job.id) == 1


async def test_a_worker_of_this_release_can_still_start_and_bring_a_slice(app, tmp_path):
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0001_notes.sql").write_text("CREATE TABLE slice_note (id integer PRIMARY KEY)")
    second = make_app(app.url, tmp_path / "blobs")
    second.add_slice(Slice("notes", folder))
    async with second:
        assert await second.pending_migrations() == []
        job = await second.enqueue("work", {"say": "second"})
        assert (await finished(second, job)).state is State.SUCCEEDED


async def test_the_sql_function_of_this_release_still_enqueues(postgres_url, tmp_path):
    async with make_app(postgres_url, tmp_path / "blobs") as app:
        await expand(app)
        async with app.transaction() as tx:
            [row] = await tx.fetch("SELECT towpath.enqueue('work', '{}', queue => 'work') AS id")
        assert await drain(app) == 1
        assert (await app.get(str(row["id"]))).state is State.SUCCEEDED

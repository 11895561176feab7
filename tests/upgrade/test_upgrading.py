"""A database of each released schema, opened by this release: it is migrated, every job is readable, all of it drains."""

import asyncio
import shutil

import pytest

from tests.services.postgres import PostgresServer
from tests.upgrade import make_fixture
from tests.upgrade.fixture_files import kept, load_postgres, load_sqlite, read, version_of
from tests.upgrade.population import EXPECTED, QUEUES, make_app, states
from tests.upgrade.schema import schema_of
from towpath import Slice, State, __version__
from towpath.core.history import differences, fold
from towpath.store.migrating import ENGINE, migrate
from towpath.testing import drain

RELEASES = [
    pytest.param(path, id=f"{dialect}-{version_of(path)}") for dialect in ("sqlite", "postgres") for path in kept(dialect)
]


@pytest.fixture(params=RELEASES)
def upgraded(request, tmp_path):
    """The app of this release on a kept database."""
    fixture = request.param
    if ".sqlite." in fixture.name:
        load_sqlite(read(fixture), tmp_path / "kept.db")
        url = f"sqlite:///{tmp_path}/kept.db"
    else:
        url = request.getfixturevalue("postgres_url")
        load_postgres(read(fixture), url)
    return make_app(url, tmp_path / "blobs")


def test_there_is_a_kept_database_of_the_first_release_for_each_dialect():
    for dialect in ("sqlite", "postgres"):
        assert "0.1.0" in {version_of(path) for path in kept(dialect)}


async def test_every_job_is_where_it_was(upgraded):
    async with upgraded as app:
        assert await states(app) == {key: before for key, (before, _) in EXPECTED.items()}
        for job in await app.list(limit=1000):
            history = [event async for event in app.events(job_id=job.id)]
            assert differences(job, fold(history)) == []
            assert (await app.explain(job.id)).sentence


async def test_what_was_recorded_is_still_known(upgraded):
    async with upgraded as app:
        [done] = [job for job in await app.list(state="succeeded") if job.key == "succeeded"]
        assert (done.tenant, done.priority, done.cost) == ("alice", 2, 3.5)
        assert await app.result(done.id, timeout=10) == {"said": "succeeded", "null": None, "text": "ä\u0000 …"}
        assert [step.name for step in await app.steps(done.id)] == ["measure"]
        [group] = await app.inbox.groups()
        assert (group.operation, group.message) == ("broken", "row … is torn")
        assert {queue.name for queue in await app.queues.list() if queue.paused} == {"paused"}
        assert [(lane.lane, lane.max_slots, lane.weight) for lane in await app.queues.lanes("capped")] == [
            ("default", 1, 2.0)
        ]


async def test_all_of_it_drains(upgraded):
    async with upgraded as app:
        asking = next(job for job in await app.list(state="waiting") if job.key == "asking")
        await app.signal(asking.id, "answer", 42)
        await app.queues.resume("paused")
        async with asyncio.timeout(60):
            while await states(app) != {key: after for key, (_, after) in EXPECTED.items()}:
                await drain(app, QUEUES)
                await asyncio.sleep(0.05)  # rescued jobs come back after a moment of backoff
        assert (await app.get(asking.id)).result == 42
        for job in await app.list(limit=1000):
            assert job.ended
            assert differences(job, fold([event async for event in app.events(job_id=job.id)])) == []


async def test_failed_and_cancelled_jobs_can_be_requeued(upgraded):
    async with upgraded as app:
        for key in ("failed", "partial", "cancelled"):
            job = next(job for job in await app.list() if job.key == key)
            assert (await app.requeue(job.id)).state is State.QUEUED


async def test_a_kept_database_gets_what_a_later_release_adds(upgraded, tmp_path):
    """An example of a migration, as long as there is no real one after the first release."""
    folder = tmp_path / "migrations"
    shutil.copytree(str(ENGINE.migrations), folder)
    (folder / "9999_later.sqlite.sql").write_text("ALTER TABLE towpath_job ADD COLUMN later text NOT NULL DEFAULT 'x';")
    (folder / "9999_later.postgres.sql").write_text("ALTER TABLE towpath.job ADD COLUMN later text NOT NULL DEFAULT 'x';")
    async with upgraded as app:
        applied = await migrate(app.services.store, [Slice("engine", folder)])
        assert [str(one) for one in applied] == ["engine 9999 later"]
        assert await states(app) == {key: before for key, (before, _) in EXPECTED.items()}
        job = await app.enqueue("work", {"say": "since then"})
        await drain(app)
        assert (await app.get(job.id)).state is State.SUCCEEDED


async def test_the_migrations_lead_to_the_schema_a_new_database_has(upgraded, tmp_path, request):
    """If this fails for the newest release only, a migration that had been kept was edited: add another one instead.

    Before that version is released, keep it again, with its source: python -m tests.upgrade.make_fixture VERSION
    """
    async with upgraded as app:
        old = await schema_of(app)
    if app.url.startswith("sqlite"):
        url = f"sqlite:///{tmp_path}/new.db"
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        url = server.create_database("brand_new")
    try:
        async with make_app(url, tmp_path / "blobs") as fresh:
            assert old == await schema_of(fresh)
    finally:
        if not url.startswith("sqlite"):
            server.drop_database("brand_new")


def test_this_release_can_be_kept(tmp_path, monkeypatch, capsys, postgres_server):
    """What makes the fixtures still works; and it made the ones that are kept."""
    monkeypatch.setattr("tests.upgrade.fixture_files.FIXTURES", tmp_path)
    make_fixture.main(__version__)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{__version__}.postgres.sql.gz",
        f"{__version__}.source.tar.xz",
        f"{__version__}.sqlite.sql.gz",
    ]

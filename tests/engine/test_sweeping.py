"""Blobs that belong to nothing are swept, and no others."""

import os
import time
from datetime import timedelta

import pytest

from tests.engine.working import ended, on_sqlite, working
from towpath import assets
from towpath.blobs.uploads import TEMPORARY
from towpath.engine.tending import sweeping
from towpath.engine.tending.janitor import Janitor
from towpath.engine.tending.retention import prune
from towpath.engine.tending.sweeping import sweep
from towpath.testing import FakeClock

LONG = "x" * 500
ORPHAN = "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60"


@pytest.fixture
async def app(opened):
    app = await opened(inline_bytes=100)

    @app.operation("keep")
    async def keep(ctx, text: str):
        return text

    return app


@pytest.fixture(autouse=True)
def every_round(monkeypatch):
    monkeypatch.setattr(sweeping, "_EVERY", timedelta(0))


def stored(tmp_path):
    root = tmp_path / "blobs"
    found = [path.relative_to(root) for path in root.rglob("*") if path.is_file()]
    return sorted(str(path) for path in found if path.parts[0] != "databases")


def grow_old(tmp_path, hours=25):
    then = time.time() - hours * 3600
    for path in (tmp_path / "blobs").rglob("*"):
        if path.is_file():
            os.utime(path, (then, then))


async def test_the_payload_of_a_job_that_was_never_made_is_swept_when_it_is_a_day_old(app, tmp_path):
    job = await app.services.place_payload(app.services.new_job("keep", LONG))  # and the client is killed
    assert await sweep(app.services) == 0
    grow_old(tmp_path, hours=23)
    assert await sweep(app.services) == 0
    assert stored(tmp_path) == [f"jobs/{job.id}/payload"]
    grow_old(tmp_path)
    assert await sweep(app.services) == 1
    assert stored(tmp_path) == []


async def test_what_a_job_refers_to_stays_however_old_it_is(app, tmp_path):
    job = await app.enqueue("keep", LONG)
    async with working(app):
        await ended(app, job)
    grow_old(tmp_path)
    assert await sweep(app.services) == 0
    assert await app.result(job.id) == LONG
    assert await app.payload(job.id) == LONG


async def test_what_a_worker_that_was_killed_while_it_pruned_left_behind_is_swept(opened, app, tmp_path, monkeypatch):
    job = await app.enqueue("keep", LONG)
    async with working(app):
        await ended(app, job)
    pruning = await opened(keep_succeeded_days=1e-9)

    async def killed(prefixes):
        raise RuntimeError("killed after the commit")

    monkeypatch.setattr(pruning.services.blobs, "delete_prefixes", killed, raising=False)
    with pytest.raises(RuntimeError, match="after the commit"):
        await prune(pruning.services)
    assert await app.list() == []
    assert len(stored(tmp_path)) == 2
    grow_old(tmp_path)
    assert await sweep(app.services) == 2
    assert stored(tmp_path) == []


async def test_the_blob_of_a_transaction_that_was_rolled_back_is_swept(app, tmp_path):
    async def rolled_back():
        async with app.transaction() as tx:
            await tx.enqueue("keep", LONG)
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        await rolled_back()
    assert len(stored(tmp_path)) == 1
    grow_old(tmp_path)
    assert await sweep(app.services) == 1


async def test_more_blobs_than_fit_on_a_page_are_swept_and_the_others_stay(app, tmp_path, monkeypatch):
    monkeypatch.setattr(sweeping, "_PAGE", 2)
    kept = [await app.enqueue("keep", LONG) for _ in range(3)]
    for _ in range(5):
        await app.services.place_payload(app.services.new_job("keep", LONG))
    grow_old(tmp_path)
    assert await sweep(app.services) == 5
    assert stored(tmp_path) == sorted(f"jobs/{job.id}/payload" for job in kept)


async def test_what_is_in_folders_of_others_or_has_no_id_is_left_alone(app, tmp_path):
    mine = ["reports/2026/a", "jobs/by-hand/a", f"assets/{ORPHAN}/content"]
    for key in mine:
        await app.services.blobs.put(key, b"x")
    grow_old(tmp_path)
    assert await sweep(app.services) == 0
    assert stored(tmp_path) == sorted(mine)


async def test_files_whose_rows_are_gone_are_swept_where_assets_are_at_home(new_app, tmp_path):
    app = new_app()
    assets.attach(app)
    async with app:

        async def pieces():
            yield b"something"

        asset = await assets.receive(app, "acme", "notes.txt", pieces(), kinds=None, created_by=None)
        await app.services.blobs.put(f"assets/{ORPHAN}/content", b"x")
        grow_old(tmp_path)
        assert await sweep(app.services) == 1
        assert stored(tmp_path) == [f"assets/{asset.id}/content"]


async def test_a_store_that_two_databases_share_is_not_swept(app, tmp_path, caplog):
    other = type(app)(f"sqlite:///{tmp_path / 'other.db'}", settings=app.settings)
    ours = await app.services.place_payload(app.services.new_job("keep", LONG))
    async with other:
        theirs = other.services.new_job("elsewhere", LONG, queue="q")
        await other.services.place_payload(theirs)
        grow_old(tmp_path)
        assert await sweep(app.services) == 0
        assert await sweep(other.services) == 0
    assert stored(tmp_path) == sorted(f"jobs/{job.id}/payload" for job in (ours, theirs))
    assert "1 other databases" in caplog.text


async def test_what_was_there_before_this_database_wrote_its_first_blob_is_left_alone(app, tmp_path):
    """It may be another's, which has left no mark: it was written by an older release, or copied."""
    await app.services.place_payload(app.services.new_job("keep", LONG))
    grow_old(tmp_path)
    theirs = tmp_path / "blobs" / "jobs" / ORPHAN / "payload"
    theirs.parent.mkdir()
    theirs.write_text(LONG)
    os.utime(theirs, (time.time() - 50 * 3600,) * 2)
    assert await sweep(app.services) == 1
    assert stored(tmp_path) == [f"jobs/{ORPHAN}/payload"]


@on_sqlite
async def test_a_backup_is_the_same_database_and_its_blobs_are_its_own(app, tmp_path):
    job = await app.enqueue("keep", LONG)
    await app.backup(tmp_path / "copy.db")
    copy = type(app)(f"sqlite:///{tmp_path / 'copy.db'}", settings=type(app.settings)())
    async with copy:
        assert copy.services.database == app.services.database
        assert await copy.payload(job.id) == LONG


async def test_half_received_files_are_swept_while_a_worker_runs(app, tmp_path):
    left = tmp_path / "blobs" / TEMPORARY / "left"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_bytes(b"half of it")
    os.utime(left, (time.time() - 7200,) * 2)
    [loop] = [loop for loop in Janitor(app.services)._loops if loop.name == "blobs"]
    assert await loop._turn() > 0
    assert TEMPORARY not in "".join(stored(tmp_path))


async def test_of_several_processes_one_sweeps_in_an_hour(opened, app, tmp_path, monkeypatch):
    monkeypatch.setattr(sweeping, "_EVERY", timedelta(hours=1))
    assert await sweep(app.services) == 0
    await app.services.place_payload(app.services.new_job("keep", LONG))
    grow_old(tmp_path)
    assert await sweep(app.services) == 0
    assert await sweep((await opened()).services) == 0
    assert len(stored(tmp_path)) == 1


@on_sqlite
async def test_a_turn_that_was_taken_before_the_clock_was_moved_back_keeps_nobody_from_the_next(opened, monkeypatch):
    monkeypatch.setattr(sweeping, "_EVERY", timedelta(hours=1))
    clock = FakeClock()
    app = await opened(clock=clock)
    turns = [await app.services.store.run(sweeping._my_turn) for _ in range(2)]
    clock._seconds -= 86400
    turns += [await app.services.store.run(sweeping._my_turn) for _ in range(2)]
    assert turns == [True, False, True, False]

"""towpath backup."""

import asyncio
import contextlib

from tests.cli.commands import Commands
from tests.cli.shop import make_app


def test_a_backup_opens_as_everything_was(towpath, tmp_path, monkeypatch):
    large = {"a": "x" * 100_000, "b": "y"}
    job_id = towpath.enqueue("add", large)
    output = towpath("backup", "copy.db").stdout
    assert "copy.db" in output
    assert "1 stored values" in output
    towpath("jobs", "cancel", job_id)
    monkeypatch.delenv("TOWPATH_BLOBS_URL")
    copy = Commands(f"sqlite:///{tmp_path}/copy.db")
    assert copy.json("jobs", "show", job_id)["state"] == "queued"
    copy.drain()
    assert copy.json("jobs", "show", job_id)["state"] == "succeeded"
    assert copy.json("jobs", "show", job_id)["payload"] == large


def test_a_backup_overwrites_nothing(towpath, tmp_path):
    towpath("migrate")
    (tmp_path / "copy.db").write_text("precious")
    assert "exists already" in towpath("backup", "copy.db", code=2).stderr
    assert (tmp_path / "copy.db").read_text() == "precious"
    assert "exists already" in towpath("backup", tmp_path / "jobs.db", code=2).stderr


def test_a_backup_needs_its_directory(towpath, tmp_path):
    towpath("migrate")
    assert "is not a directory" in towpath("backup", "nowhere/copy.db", code=2).stderr


def test_postgresql_is_backed_up_with_its_own_means(postgres_url):
    towpath = Commands(postgres_url)
    towpath("migrate")
    assert "pg_dump" in towpath("backup", "copy.db", code=2).stderr


def test_a_backup_ends_although_jobs_are_written_all_the_while(towpath, tmp_path):
    """Copying in pieces starts over whenever somebody else has written; it must not depend on a quiet moment."""

    async def work():
        async with make_app(towpath.url) as app:
            filler = [{"operation": "add", "payload": {"a": "x" * 30_000, "b": "y"}} for _ in range(1000)]
            await app.enqueue_many(filler)
            writing = asyncio.create_task(_keep_writing(app))
            try:
                async with make_app(towpath.url) as other, asyncio.timeout(60):
                    return await other.backup(tmp_path / "copy.db")
            finally:
                writing.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await writing

    made = asyncio.run(work())
    assert made.bytes > 20_000_000
    assert len(Commands(f"sqlite:///{tmp_path}/copy.db").json("jobs", "list", "--limit", "1000")) == 1000


async def _keep_writing(app):
    while True:
        await app.enqueue("add", {"a": 1, "b": 2})

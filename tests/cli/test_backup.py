"""towpath backup."""

import asyncio
import threading
from contextlib import contextmanager

import apsw

from tests.cli.commands import Commands
from tests.cli.shop import make_app


def test_a_backup_opens_as_everything_was(towpath, tmp_path):
    large = {"a": "x" * 100_000, "b": "y"}
    job_id = towpath.enqueue("add", large)
    output = towpath("backup", "copy.db").stdout
    assert "copy.db" in output
    assert "1 stored values" in output
    towpath("jobs", "cancel", job_id)
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


def test_a_backup_ends_although_others_write_all_the_while(towpath, tmp_path):
    """A copy in pieces starts over whenever somebody has written in between; it must not depend on a quiet moment."""
    copied = asyncio.run(_backup_under_fire(towpath.url, tmp_path))
    assert copied.bytes > 20_000_000
    towpath.url = f"sqlite:///{tmp_path}/copy.db"
    assert len(towpath.json("jobs", "list", "--limit", "1000")) == 700


async def _backup_under_fire(url, folder):
    async with make_app(url) as app:
        await app.enqueue_many([{"operation": "add", "payload": {"a": "x" * 30_000, "b": "y"}} for _ in range(700)])
        with _writing_all_the_while(folder / "jobs.db"):
            backup = asyncio.create_task(app.backup(folder / "copy.db"))
            await asyncio.wait({backup}, timeout=20)
            assert backup.done(), "the backup does not get anywhere"
        return await backup


@contextmanager
def _writing_all_the_while(path):
    """Another process of the user's, with a table of its own in the same file."""
    stop = threading.Event()

    def write():
        connection = apsw.Connection(str(path))
        connection.set_busy_timeout(10_000)
        connection.execute("PRAGMA synchronous = off; CREATE TABLE diary (line text)")
        while not stop.is_set():
            connection.execute("INSERT INTO diary VALUES ('and another thing')")
        connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        stop.set()
        writer.join(timeout=30)

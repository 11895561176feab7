"""towpath doctor finds what is wrong, and nothing where nothing is."""

import asyncio
import time
from datetime import timedelta
from types import SimpleNamespace

import pytest

from tests.cli.commands import Commands, words
from towpath.config import sqlite_path
from towpath.core.records import WorkerRow
from towpath.store.contract import Claim
from towpath.testing import drain


def _findings(towpath, code=0):
    return {(found["topic"], found["level"]): found for found in towpath.json("doctor", code=code)}


async def _sql(app, text):
    async with app.transaction() as tx:
        await tx.execute(text if app.url.startswith("sqlite") else text.replace("towpath_", "towpath."))


async def _ago(app, age):
    """A moment in the past, as SQL."""
    moment = (await app.now() - age).timestamp()
    return str(moment) if app.url.startswith("sqlite") else f"to_timestamp({moment})"


def test_a_healthy_database_has_no_problems(towpath_on_both):
    towpath_on_both.enqueue("add", {"a": 1, "b": 2})
    towpath_on_both.drain()
    found = towpath_on_both.json("doctor")
    assert {item["level"] for item in found} == {"ok", "note"}
    topics = {item["topic"] for item in found}
    expected = {"python", "apsw", "SQLite", "asyncpg", "disk", "decoder", "database", "migrations"}
    assert expected | {"clock", "leases", "inbox"} <= topics
    if towpath_on_both.url.startswith("postgres"):
        assert "PostgreSQL" in next(item["message"] for item in found if item["topic"] == "server")
    assert "0 problems" in towpath_on_both("doctor").stdout


def test_a_missing_database_is_a_problem(towpath, tmp_path):
    found = _findings(towpath, code=1)[("database", "problem")]
    assert "towpath migrate" in found["remedy"]
    assert not (tmp_path / "jobs.db").exists()


def test_a_database_that_does_not_answer_is_a_problem_and_the_rest_is_still_told(towpath):
    towpath.url = "postgresql://nobody@127.0.0.1:1/jobs"
    found = _findings(towpath, code=1)
    assert "cannot be reached" in found[("database", "problem")]["message"]
    assert ("python", "ok") in found


def test_missing_migrations_are_a_problem(towpath_on_both, tmp_path):
    (tmp_path / "jobs.db").touch()
    found = _findings(towpath_on_both, code=1)[("migrations", "problem")]
    assert "towpath migrate" in found["remedy"]


def test_a_sqlite_that_can_corrupt_its_file_is_a_problem(towpath, monkeypatch):
    towpath("migrate")
    monkeypatch.setattr("apsw.sqlite_lib_version", lambda: "3.50.4")
    found = _findings(towpath, code=1)
    assert "WAL-reset bug" in found[("SQLite", "problem")]["message"]


@pytest.mark.parametrize(("wrong_by", "level", "code"), [(0, "ok", 0), (-10, "note", 0), (3600, "problem", 1)])
def test_a_clock_that_differs_from_the_databases_is_told(postgres_url, monkeypatch, wrong_by, level, code):
    towpath = Commands(postgres_url)
    towpath("migrate")
    monkeypatch.setattr("towpath.cli.doctor.time", SimpleNamespace(time=lambda: time.time() + wrong_by))
    found = _findings(towpath, code=code)[("clock", level)]
    if wrong_by:
        assert f"{abs(wrong_by)}.0 s {'ahead of' if wrong_by > 0 else 'behind'} the database" in found["message"]


def test_with_an_app_its_own_migrations_are_looked_at_too_and_nothing_is_written(towpath, tmp_path):
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf/0001_books.sql").write_text("CREATE TABLE book (title text NOT NULL);")
    (tmp_path / "diary_app.py").write_text(
        "from pathlib import Path\nfrom towpath import App, Slice\napp = App()\n"
        "app.add_slice(Slice('shelf', Path(__file__).parent / 'shelf'))\n"
        "app.operation('write', queue='q')(lambda ctx: None)\napp.schedule('daily', '0 3 * * *', 'write')\n"
    )
    on_here = ("--app", "diary_app:app", "--database", towpath.url)
    towpath("migrate")
    assert "migrations" in [
        found["topic"] for found in towpath.json("doctor", *on_here, code=1) if found["level"] == "problem"
    ]
    towpath("migrate", *on_here)
    towpath("doctor", *on_here)
    assert towpath.json("schedules") == []


def test_a_full_disk_is_a_problem_before_it_is_one(towpath, monkeypatch):
    towpath("migrate")
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=50 * 1024**2))
    assert "50.0 MB free for the database" in _findings(towpath, code=1)[("disk", "problem")]["message"]
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=500 * 1024**2))
    assert ("disk", "note") in _findings(towpath)


def test_jobs_nobody_serves_are_a_problem(towpath_on_both):
    towpath_on_both.enqueue("add", {"a": 1, "b": 2})
    found = _findings(towpath_on_both, code=1)[("queues", "problem")]
    assert "no live worker serves it" in found["message"]
    assert found["remedy"].endswith("--queues sums")


def test_jobs_in_a_paused_queue_are_noted(towpath):
    towpath.enqueue("add", {"a": 1, "b": 2})
    towpath("queues", "pause", "sums")
    assert "towpath queues resume sums" in _findings(towpath)[("queues", "note")]["remedy"]


def test_a_job_whose_worker_died_is_a_problem_until_somebody_rescues_it(towpath_on_both):
    job_id = towpath_on_both.enqueue("add", {"a": 1, "b": 2})

    async def die(app):
        assert await app.services.store.claim(Claim("sums", 1, job_id, 0.001))

    towpath_on_both.with_app(die)
    assert "1 job whose lease has run out" in _findings(towpath_on_both, code=1)[("leases", "problem")]["message"]
    towpath_on_both.drain()
    assert ("leases", "ok") in _findings(towpath_on_both)
    assert towpath_on_both.json("jobs", "show", job_id)["state"] == "succeeded"


def test_a_lease_from_before_the_clock_was_moved_back_is_told(towpath_on_both):
    job_id = towpath_on_both.enqueue("add", {"a": 1, "b": 2})

    async def die(app):
        heart = app.services.store.heart()
        await asyncio.to_thread(heart.beat, WorkerRow("w", "a worker"), [], 30.0)
        await asyncio.to_thread(heart.close)
        assert await app.services.store.claim(Claim("sums", 1, "w", 3600.0))

    towpath_on_both.with_app(die)
    assert "the clock was moved back" in _findings(towpath_on_both)[("leases", "note")]["message"]

    async def stop(app):
        await app.services.store.run(lambda tx: tx.execute("stop_worker", id="w", now=tx.now))

    towpath_on_both.with_app(stop)
    found = _findings(towpath_on_both, code=1)[("leases", "problem")]
    assert found["message"].startswith("1 job leased until")
    assert found["remedy"].startswith("start a worker")
    assert towpath_on_both.json("jobs", "show", job_id)["state"] == "running"


def test_waits_and_due_jobs_nobody_acts_on_are_problems(towpath_on_both):
    overdue = towpath_on_both.enqueue("wait", {})
    towpath_on_both.enqueue("wait", {})
    towpath_on_both.drain()

    async def fall_due(app):
        await app.enqueue("add", {"a": 1, "b": 2}, delay=0.001)
        await app.schedules.add("nightly", "0 3 * * *", "add", {"a": 1, "b": 2})
        moment = await _ago(app, timedelta(days=1))
        await _sql(app, f"UPDATE towpath_schedule SET next_fire = {moment}")
        await _sql(app, f"UPDATE towpath_job SET deadline = {moment} WHERE id = '{overdue}'")

    towpath_on_both.with_app(fall_due)
    found = towpath_on_both.json("doctor", code=1)
    messages = [item["message"] for item in found if item["level"] == "problem"]
    assert any("1 job whose wait is over" in message for message in messages), messages
    assert any("1 job fell due" in message for message in messages), messages
    assert any("schedule nightly should have fired" in message for message in messages), messages


def test_a_schedule_that_no_running_process_declares_is_something_to_know(towpath_on_both):
    async def declare(app):
        app.schedule("nightly", "0 3 * * *", "add", {"a": 1, "b": 2})
        await app.close()
        await app.open()
        assert [one for one in await app.checkup() if one.topic == "schedules"] == []

    towpath_on_both.with_app(declare)
    assert "no running process declares nightly" in _findings(towpath_on_both)[("schedules", "note")]["message"]


def test_an_operation_nobody_knows_is_a_problem(towpath_on_both):
    towpath_on_both("migrate")
    towpath_on_both("enqueue", "juggle", "--queue", "sums")
    towpath_on_both.drain()
    found = _findings(towpath_on_both, code=1)[("set aside", "problem")]
    assert "no worker of sums knows juggle: 1 job set aside" in found["message"]


@pytest.mark.parametrize(("slots", "level"), [(0, "problem"), (1, "note")])
def test_jobs_at_a_cap_are_told_and_a_cap_of_zero_is_a_problem(towpath_on_both, slots, level):
    towpath_on_both("migrate")
    towpath_on_both("queues", "lane", "sums", "alice", "--new", "--slots", slots)
    for _ in range(2):
        towpath_on_both.enqueue("add", {"a": 1, "b": 2}, tenant="alice")
    found = _findings(towpath_on_both, code=1)[("parked", level)]
    assert f"0 of {slots} slots are taken, {slots} kept for jobs that are ready" in found["message"]
    if slots == 0:
        assert found["remedy"] == "towpath queues lane sums alice --slots 1"
        towpath_on_both(*found["remedy"].split()[1:])
        assert ("parked", "problem") not in _findings(towpath_on_both, code=1)


def test_failed_jobs_and_silent_workers_are_noted(towpath_on_both):
    towpath_on_both.enqueue("break", {})

    async def work(app):
        await drain(app)
        moment = await _ago(app, timedelta(minutes=5))
        await _sql(app, f"UPDATE towpath_worker SET stopped_at = NULL, seen_at = {moment}, alive_until = {moment}")

    towpath_on_both.with_app(work)
    found = towpath_on_both.json("doctor")
    messages = {item["message"]: item for item in found if item["level"] == "note"}
    assert "1 job failed for good, of one cause" in messages
    assert any(message.startswith("drain fell silent at") for message in messages)


def test_findings_are_printed_with_what_to_do(towpath):
    towpath.enqueue("add", {"a": 1, "b": 2})
    shown = words(towpath("doctor", code=1).stdout)
    assert "✗ queues jobs are ready in sums" in shown
    assert "→ start a worker: towpath worker --app module:app --queues sums" in shown
    assert "1 problem," in shown


def test_files_that_others_can_read_are_told(towpath, tmp_path):
    towpath.enqueue("add", {"a": 1, "b": 2})
    towpath.drain()
    assert ("privacy", "ok") in _findings(towpath)
    log = sqlite_path(towpath.url).with_name("towpath.log")
    log.touch()
    log.chmod(0o644)
    found = _findings(towpath)[("privacy", "note")]
    assert "towpath.log" in found["message"]
    assert "chmod 600" in found["remedy"]

"""Operations in a process of their own: they answer like any other, and a kill really kills."""

import asyncio
import os
import sys
from pathlib import Path

import psutil
import pytest

from tests.engine import isolated
from tests.engine.working import ended, eventually, happened, in_state, on_sqlite, working
from towpath import ConfigurationError, State

pytestmark = on_sqlite  # nothing here depends on the database


@pytest.fixture
def app(app):
    isolated.register(app)
    return app


def gone(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture
def pids(tmp_path):
    """The processes of a hanging operation, once they are there; killed at the end if the engine did not."""
    file, found = tmp_path / "pids", []

    async def wait():
        await eventually(file.exists)
        found.extend(int(word) for word in file.read_text().split())
        return found

    wait.file = str(file)
    yield wait
    for pid in found:
        if not gone(pid):
            psutil.Process(pid).kill()


async def test_it_answers_tells_and_logs_like_any_other_operation(app):
    job = await app.enqueue("add", {"values": [1, 2, 3]}, tenant="alice")
    other = await app.enqueue("add.async", {"values": [4, 5]})
    async with working(app):
        result = await app.result(job.id, timeout=30)
        assert await app.result(other.id, timeout=30) == 9
    assert result["pid"] != os.getpid()
    assert (result["sum"], result["tenant"], result["attempt"]) == (6, "alice", 1)
    row = await app.get(job.id)
    assert (row.progress_current, row.progress_total) == (1, 2)
    assert [event.fields for event in await happened(app, job, "adding")] == [{"how_many": 3}]
    assert [event.fields for event in await happened(app, job, "job.metered")] == [{"model": "abacus", "tokens_in": 3}]
    [line] = await happened(app, job, "log")
    assert (line.message, line.fields) == (f"in process {result['pid']}", {"logger": "abacus"})


async def test_its_errors_keep_their_category_class_and_words(app):
    app.map_exception(isolated.VendorDown, "fatal")
    names = ("transient", "schema", "fatal", "vendor", "exit", "limited", "later")
    jobs = {name: await app.enqueue("raises", name) for name in names}
    async with working(app):
        rows = {name: await ended(app, jobs[name], within=60) for name in names[:5]}
        for name in names[5:]:
            await eventually(lambda name=name: happened(app, jobs[name], "job.retry_later"))
            rows[name] = await app.get(jobs[name].id)
    told = {
        name: (row.error["kind"], row.error["error_class"], row.error["message"]) for name, row in rows.items() if row.error
    }
    assert told == {
        "transient": ("transient", "Transient", "try again"),
        "schema": ("schema_invalid", "SchemaInvalid", "invoice.date: must be a date"),
        "fatal": ("fatal", "Fatal", "never"),
        "vendor": ("fatal", "VendorDown", "it is down"),
        "exit": ("transient", "SystemExit", "2"),
    }
    assert rows["schema"].error["path"] == "invoice.date"
    assert rows["fatal"].error["remedy"] == "look at it"
    assert (rows["limited"].reason, rows["limited"].failures) == ("rate_limited", 0)
    assert (rows["later"].reason, rows["later"].failures) == ("retry_later", 0)
    assert await app.services.budgets.wait_seconds("vendor") > 90


async def test_its_outcomes_are_values_too(app):
    jobs = {name: await app.enqueue("returns", name) for name in ("partial", "later", "unpicklable", "nothing")}
    async with working(app):
        partial = await ended(app, jobs["partial"], within=30)
        assert (partial.state, partial.result) == (State.PARTIAL, "half")
        unpicklable = await ended(app, jobs["unpicklable"], within=30)
        assert (unpicklable.state, unpicklable.error["kind"]) == (State.FAILED, "fatal")
        assert "Unpicklable cannot leave its process" in unpicklable.error["message"]
        assert (await ended(app, jobs["nothing"], within=30)).state is State.SUCCEEDED
        [later] = await eventually(lambda: happened(app, jobs["later"], "job.retry_later"))
    assert later.fields["delay_seconds"] == 90


@pytest.mark.parametrize(("how", "words"), [("segfault", "killed by SIGSEGV"), ("exit", "exit code 7")])
async def test_a_process_that_dies_is_that_jobs_failure(app, how, words):
    job = await app.enqueue("dies", how)
    async with working(app):
        row = await ended(app, job, within=30)
        assert await app.result((await app.enqueue("add", {"values": [1]})).id, timeout=30)
    assert (row.state, row.error["kind"]) == (State.FAILED, "transient")
    assert words in row.error["message"]


async def test_a_process_past_its_memory_limit_fails_with_the_remedy(app):
    job = await app.enqueue("eats")
    async with working(app):
        row = await ended(app, job, within=30)
    assert (row.state, row.error["kind"], row.failures) == (State.FAILED, "fatal", 1)
    assert "512 MB" in row.error["message"]
    assert "memory_mb=" in row.error["remedy"]


async def test_a_cancel_kills_the_whole_group(app, pids):
    job = await app.enqueue("hangs", pids.file)
    async with working(app):
        processes = await pids()
        await app.cancel(job.id)
        await eventually(lambda: all(map(gone, processes)))
        await eventually(lambda: _let_go(app, job))
    assert (await app.get(job.id)).state is State.CANCELLED


async def _let_go(app, job):
    return not (await app.get(job.id)).leased


async def test_a_timeout_kills_the_whole_group(app, pids):
    job = await app.enqueue("hangs", pids.file, max_attempts=1)
    worker = app.worker()
    running = asyncio.create_task(worker.run())
    processes = await pids()
    [entry] = worker._slots.running.values()
    entry.deadline = float("-inf")  # it is over now, however long it took until all of them were there
    row = await ended(app, job, within=30)
    await eventually(lambda: all(map(gone, processes)))
    worker.stop()
    await running
    assert (row.state, row.error["kind"]) == (State.FAILED, "timeout")


async def test_a_stopping_worker_kills_it_and_hands_the_job_back(app, pids):
    job = await app.enqueue("hangs", pids.file)
    async with working(app):
        processes = await pids()
    assert all(map(gone, processes))
    row = await app.get(job.id)
    assert (row.state, row.leased, row.failures) == (State.QUEUED, False, 0)


async def test_a_cancel_while_the_process_is_still_starting_leaves_no_process(app, pids):
    jobs = [await app.enqueue("hangs", pids.file) for _ in range(4)]
    async with working(app):
        for job in jobs:
            await in_state(app, job, "running")
            await app.cancel(job.id)
        await eventually(lambda: _all_let_go(app, jobs))
        me = psutil.Process()
        await eventually(lambda: not [child for child in me.children() if _hangs(child)])


async def _all_let_go(app, jobs):
    return not any([(await app.get(job.id)).leased for job in jobs])


def _hangs(process):
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return False


async def test_it_does_not_outlive_a_worker_that_was_killed(app, pids, database_url, tmp_path):
    await app.enqueue("hangs", pids.file)
    command = ["-m", "tests.engine.isolated", database_url, (tmp_path / "blobs").as_uri()]
    worker = await asyncio.create_subprocess_exec(sys.executable, *command, cwd=Path(__file__).parents[2])
    try:
        processes = await pids()
        worker.kill()
        await eventually(lambda: all(map(gone, processes)))
    finally:
        if worker.returncode is None:
            worker.kill()
        await worker.wait()


def test_a_function_that_no_other_process_can_import_is_refused(new_app):
    app = new_app()

    def local(ctx): ...

    with pytest.raises(ConfigurationError, match="module level"):
        app.operation("local", isolation="process")(local)
    with pytest.raises(ConfigurationError, match="isolation"):
        app.operation("thread", isolation="thread")
    with pytest.raises(ConfigurationError, match="memory_mb needs isolation"):
        app.operation("unlimited", memory_mb=100)

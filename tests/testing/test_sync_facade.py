"""The sync facade: blocking calls from plain threads, through the same engine."""

import asyncio
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from towpath import (
    App,
    ConfigurationError,
    Context,
    JobCancelled,
    JobFailed,
    JobNotFound,
    ResultTimeout,
    SchemaInvalid,
    State,
    StoreUnavailable,
)
from towpath.testing import drain


def make_app(url):
    app = App(url)

    @app.operation("double")
    async def double(ctx: Context, payload: int):
        return payload * 2

    @app.operation("broken")
    async def broken(ctx: Context):
        raise ValueError("a bug")

    @app.operation("ask")
    async def ask(ctx: Context):
        return await ctx.wait_for("answer")

    return app


@pytest.fixture
def app(sqlite_url):
    app = make_app(sqlite_url)
    yield app
    app.sync().close()


def facade_threads():
    return [thread for thread in threading.enumerate() if thread.name == "towpath-sync"]


def test_a_script_enqueues_and_reads_without_an_event_loop(database_url):
    app = make_app(database_url)
    with app.sync() as jobs:
        one = jobs.enqueue("double", 21, tenant="alice", key="k")
        assert jobs.enqueue("double", 99, tenant="alice", key="k").id == one.id
        many = jobs.enqueue_many({"operation": "double", "payload": number} for number in range(3))
        assert jobs.get(one.id).state is State.QUEUED
        assert jobs.cancel(many[2].id, "not needed") is True
        assert jobs.cancel(many[2].id) is False
        assert jobs.run(drain, app) == 3
        assert [jobs.result(job.id, timeout=10) for job in (one, *many[:2])] == [42, 0, 2]
        with pytest.raises(JobCancelled):
            jobs.result(many[2].id, timeout=10)
    assert app.home is None
    assert facade_threads() == []


def test_errors_come_through_as_they_are(app):
    jobs = app.sync()
    with pytest.raises(SchemaInvalid):
        jobs.enqueue("double", "many")
    with pytest.raises(JobNotFound):
        jobs.get("0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60")
    failing = jobs.enqueue("broken", max_attempts=1)
    with pytest.raises(ResultTimeout):
        jobs.result(failing.id, timeout=0.01)
    jobs.run(drain, app)
    with pytest.raises(JobFailed, match="a bug"):
        jobs.result(failing.id, timeout=10)


def test_a_signal_reaches_a_waiting_job(app):
    jobs = app.sync()
    job = jobs.enqueue("ask")
    jobs.signal(job.id, "answer", 42)
    jobs.run(drain, app)
    assert jobs.result(job.id, timeout=10) == 42


def test_anything_else_the_app_can_do_goes_through_run(app):
    jobs = app.sync()
    job = jobs.enqueue("double", 1)
    assert jobs.run(app.explain, job.id).reason == "no_worker"


def test_nothing_is_started_before_the_first_call(app):
    jobs = app.sync()
    assert app.sync() is jobs
    assert facade_threads() == []
    assert app.home is None
    jobs.enqueue("double", 1)
    assert len(facade_threads()) == 1


def test_many_threads_share_one_loop_and_lose_nothing(app):
    jobs = app.sync()
    start = threading.Barrier(8)

    def view(number):
        start.wait(timeout=10)  # all of them race for the first call, which opens the app
        return [jobs.enqueue("double", number * 10 + turn).id for turn in range(10)]

    with ThreadPoolExecutor(8) as pool:
        ids = [job_id for made in pool.map(view, range(8)) for job_id in made]
    assert len(set(ids)) == 80
    assert len(facade_threads()) == 1
    assert jobs.run(drain, app) == 80
    assert sorted(jobs.result(job_id, timeout=10) for job_id in ids) == [number * 2 for number in range(80)]


def test_it_opens_again_after_it_was_closed(app):
    jobs = app.sync()
    job = jobs.enqueue("double", 1)
    jobs.close()
    jobs.close()
    assert jobs.get(job.id).id == job.id


def test_a_call_that_is_waiting_when_the_app_closes_is_told_so(app):
    jobs = app.sync()
    job = jobs.enqueue("double", 1)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(jobs.result, job.id)
        jobs.run(_until, lambda: len(jobs._calls) == 2)  # that call, and this one
        jobs.close()
        with pytest.raises(StoreUnavailable, match="closed while"):
            waiting.result(timeout=10)


def test_calls_that_race_with_a_close_end_one_way_or_the_other(app):
    jobs = app.sync()

    def view(_number):
        try:
            return jobs.enqueue("double", 1).id
        except StoreUnavailable:
            return None

    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(view, number) for number in range(60)]
        for answer in answers[::6]:
            answer.result(timeout=20)
            jobs.close()
        made = [answer.result(timeout=20) for answer in answers]
    assert {job_id for job_id in made if job_id} <= {job.id for job in jobs.run(app.list)}
    assert sum(job_id is not None for job_id in made) >= 10


async def _until(condition):
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  (the condition is another thread's)
            await asyncio.sleep(0.001)


def test_a_database_that_cannot_be_opened_is_reported_and_can_be_tried_again(tmp_path):
    (tmp_path / "folder").mkdir()
    app = make_app(f"sqlite:///{tmp_path}/folder")
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="folder"):
            app.sync().open()
    assert facade_threads() == []
    app.url = f"sqlite:///{tmp_path}/folder/jobs.db"
    with app.sync() as jobs:
        assert jobs.enqueue("double", 1).id


async def test_inside_an_event_loop_it_refuses_to_block(app):
    with pytest.raises(ConfigurationError, match="await the app's own methods"):
        app.sync().enqueue("double", 1)


async def test_sync_views_of_an_async_server_use_the_loop_the_app_is_open_in(app):
    async with app:
        job = await asyncio.to_thread(app.sync().enqueue, "double", 4)
        assert facade_threads() == []
        await drain(app)
        assert await asyncio.to_thread(app.sync().result, job.id, 10) == 8
        await asyncio.to_thread(app.sync().close)  # not its to close
        assert (await app.get(job.id)).result == 8


def _forking(case, url):
    """What `tests.testing.forking` found: a fork of this process would take along whatever locks its threads hold."""
    words = [sys.executable, "-m", "tests.testing.forking", case, url]
    ended = subprocess.run(words, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def test_an_app_opened_before_a_fork_is_refused_in_the_child(sqlite_url):
    found = _forking("opened_before", sqlite_url)
    assert found["child"].startswith("ConfigurationError: the app was opened in process")
    assert "after the fork" in found["child"]
    assert found["jobs"] == 1


def test_an_app_opened_by_nobody_before_a_fork_works_in_parent_and_child(sqlite_url):
    found = _forking("opened_after", sqlite_url)
    assert set(found["jobs"]) == {found["child"], found["own"]}
    assert found["child"] != found["own"]


_SCRIPT = """
import sys
from towpath import App

app = App(sys.argv[1])


@app.operation("double")
async def double(ctx, payload: int):
    return payload * 2


print(app.sync().enqueue("double", 1).state.value)
"""


def test_a_script_that_ends_without_closing_says_nothing_about_it(database_url):
    words = [sys.executable, "-W", "error", "-c", _SCRIPT, database_url]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "queued\n", "")

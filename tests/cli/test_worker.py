"""towpath worker, as a real process."""

import json
import signal
from pathlib import Path

import pytest

from tests.cli.commands import started, until, words

SHOP = """
import asyncio
import logging
from pathlib import Path
from towpath import App

app = App()

@app.operation("greet", queue="letters")
async def greet(ctx, payload: dict):
    logging.getLogger("shop").warning("dear %s", payload["name"])
    return f"hello {payload['name']}"

@app.operation("hold", queue="letters")
async def hold(ctx, payload: dict):
    Path("held").touch()
    while not Path("go").exists():
        await asyncio.sleep(0.02)
    return "held"
"""


@pytest.fixture(autouse=True)
def shop(tmp_path):
    (tmp_path / "corner_shop.py").write_text(SHOP)


def _worker(towpath, *options, **env):
    return started("worker", "--app", "corner_shop:app", *options, env={"TOWPATH_DATABASE_URL": towpath.url} | env)


def _enqueue(towpath, operation, **payload):
    return towpath("enqueue", operation, "--queue", "letters", "--payload", json.dumps(payload)).stdout.strip()


def _state(towpath, job_id):
    return towpath.json("jobs", "show", job_id)["state"]


def test_a_worker_serves_an_app_in_the_current_directory_until_it_is_told_to_stop(towpath_on_both):
    with _worker(towpath_on_both, "--queues", "letters", "--concurrency", "2", "--name", "w1") as worker:
        until(lambda: "started: queues letters, concurrency 2" in worker.err)
        job_id = _enqueue(towpath_on_both, "greet", name="Ada")
        until(lambda: _state(towpath_on_both, job_id) == "succeeded")
        [row] = towpath_on_both.json("workers")
        assert (row["name"], row["queues"], row["concurrency"], row["state"]) == ("w1", ["letters"], 2, "alive")
        worker.terminate()
        assert worker.end() == 0
    assert worker.out == ""
    assert "stopped" in worker.err
    assert "dear Ada" in worker.err
    assert "\x1b" not in worker.err
    assert towpath_on_both.json("workers")[0]["state"] == "stopped"


def test_the_log_is_json_if_asked_and_says_which_job_a_line_is_from(towpath):
    with _worker(towpath, TOWPATH_LOG_JSON="true") as worker:
        until(lambda: "started" in worker.err)
        job_id = _enqueue(towpath, "greet", name="Ada")
        until(lambda: _state(towpath, job_id) == "succeeded")
        worker.terminate()
        assert worker.end() == 0
    lines = [json.loads(line) for line in worker.err.splitlines()]
    assert all({"event", "level", "logger", "timestamp"} <= line.keys() for line in lines)
    [said] = [line for line in lines if line["logger"] == "shop"]
    assert (said["event"], said["level"]) == ("dear Ada", "warning")
    assert (said["job"], said["operation"], said["tenant"], said["attempt"]) == (job_id, "greet", "default", 1)
    assert [event["message"] for event in towpath.json("jobs", "show", job_id)["events"] if event["name"] == "log"] == [
        "dear Ada"
    ]


def test_the_level_of_the_log_is_a_setting(towpath):
    towpath("migrate")
    job_id = _enqueue(towpath, "greet", name="Ada")
    with _worker(towpath, TOWPATH_LOG_LEVEL="warning") as worker:
        until(lambda: _state(towpath, job_id) == "succeeded")
        worker.terminate()
        assert worker.end() == 0
    assert len(worker.err.splitlines()) == 1
    assert "dear Ada" in worker.err


def test_a_running_job_is_finished_before_the_worker_stops(towpath):
    towpath("migrate")
    job_id = _enqueue(towpath, "hold")
    with _worker(towpath) as worker:
        until(Path("held").exists)
        worker.terminate()
        Path("go").touch()
        assert worker.end() == 0
    assert _state(towpath, job_id) == "succeeded"


def test_a_job_that_takes_too_long_is_handed_back_without_losing_an_attempt(towpath):
    towpath("migrate")
    job_id = _enqueue(towpath, "hold")
    with _worker(towpath, TOWPATH_DRAIN_SECONDS="0") as worker:
        until(Path("held").exists)
        worker.terminate()
        assert worker.end() == 0
    job = towpath.json("jobs", "show", job_id)
    assert (job["state"], job["failures"]) == ("queued", 0)


def test_the_database_can_be_named_beside_the_app(towpath, tmp_path):
    other = f"sqlite:///{tmp_path}/other.db"
    with _worker(towpath, "--database", other) as worker:
        until(lambda: "started" in worker.err)
        worker.terminate()
        assert worker.end() == 0
    assert (tmp_path / "other.db").exists()
    assert not (tmp_path / "jobs.db").exists()


@pytest.mark.parametrize(
    ("options", "env", "hint"),
    [
        (["--queues", "a b"], {}, "a queue's name must be"),
        (["--queues", ","], {}, "names no queue"),
        (["--concurrency", "0"], {}, "--concurrency"),
        ([], {"TOWPATH_LOG_LEVEL": "LOUD"}, "TOWPATH_LOG_LEVEL must be one of"),
        (["--database", "mysql://x"], {}, "no database answers to 'mysql'"),
    ],
)
def test_a_worker_that_cannot_start_says_why(towpath, monkeypatch, options, env, hint):
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert hint in words(towpath("worker", "--app", "corner_shop:app", *options, code=2).stderr)


def test_a_worker_ends_at_ctrl_c_as_it_does_at_a_signal(towpath):
    with _worker(towpath) as worker:
        until(lambda: "started" in worker.err)
        worker.popen.send_signal(signal.SIGINT)
        assert worker.end() == 0
    assert "Traceback" not in worker.err

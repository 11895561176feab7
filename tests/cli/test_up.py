"""towpath up: server and worker in one real process, and an example that is alive when it starts."""

import re
import signal
import socket
import time

import httpx
import pytest

from tests.cli.commands import Commands, started, until
from tests.services.schedules import own
from towpath.cli.example.documents import SHELVES

DOCUMENTS = sum(shelf.documents for shelf in SHELVES)
LINK = re.compile(r"(http://127\.0\.0\.1:\d+)/login\?token=(\S+)")


class Running:
    """A `towpath up` that is running, and a browser that came by its link."""

    def __init__(self, process):
        until(lambda: LINK.search(process.out) or process.popen.poll() is not None, timeout=300)
        assert LINK.search(process.out), process.out + process.err
        self.process = process
        base, self.token = LINK.search(process.out).groups()
        self.browser = httpx.Client(base_url=base, headers={"Origin": base}, timeout=30)
        answer = self.browser.post("/api/session/link", json={"token": self.token})
        assert answer.status_code == 200, answer.text
        self.session = answer.json()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.close()

    def get(self, path, **query):
        answer = self.browser.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path, body=None):
        return self.browser.post(path, json=body)

    def jobs(self, **query):
        return self.get("/api/jobs", limit=200, **query)["items"]


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    """The example, running, in a directory of its own."""
    folder = tmp_path_factory.mktemp("up")
    with (
        started("up", "--port", "0", cwd=folder, env={"TOWPATH_DRAIN_SECONDS": "0.2"}) as process,
        Running(process) as running,
    ):
        yield running


def test_the_link_logs_into_local_mode_once(up):
    assert (up.session["account"]["name"], up.session["local"], up.session["tenant"]) == ("local", True, "default")
    assert up.post("/api/session/link", {"token": up.token}).status_code in (401, 403)


def test_the_example_is_read_and_packed_but_for_the_broken_document(up):
    def done():
        read = up.jobs(operation="example.document.read", state=["succeeded", "failed"])
        return len(read) == DOCUMENTS and len(up.jobs(operation="example.document.pack", state="succeeded")) == DOCUMENTS

    until(done, timeout=120)
    [broken] = up.jobs(operation="example.document.read", state="failed")
    assert (broken["tenant"], broken["error"]["kind"]) == ("cedar", "schema_invalid")
    assert [job["tenant"] for job in up.jobs(operation="example.collection.read", state="partial")] == ["cedar"]
    assert any(job["failures"] for job in up.jobs(operation="example.document.read", state="succeeded")), (
        "nothing was retried"
    )


def test_the_broken_document_can_be_mended_and_its_collection_then_finishes(up):
    [broken] = until(lambda: up.jobs(operation="example.document.read", state="failed"), timeout=60)
    payload = up.get(f"/api/jobs/{broken['id']}")["payload"]
    edited = {"payload": payload | {"encoding": "latin-1"}}
    assert up.post(f"/api/jobs/{broken['id']}/retry", edited).status_code == 200
    until(lambda: up.get(f"/api/jobs/{broken['parent_id']}")["state"] == "succeeded", timeout=60)


def test_something_slow_can_be_watched_and_its_lines_are_events(up):
    [job, *_] = until(lambda: up.jobs(operation="example.logbook.dictate", state="running"), timeout=60)
    until(lambda: (up.get(f"/api/jobs/{job['id']}")["progress"] or {}).get("current", 0) > 1, timeout=60)
    names = {event["name"] for event in up.get(f"/api/jobs/{job['id']}/events")["items"]}
    assert {"dictation.line", "job.progress"} <= names


def test_every_operation_of_the_example_is_public_and_says_what_it_takes(up):
    queues = {"example-collections", "example-documents", "example-dictation"}
    operations = {one["name"]: one for one in up.get("/api/operations") if one["queue"] in queues}
    assert len(operations) == 6
    assert all(one["public"] and one["description"] for one in operations.values())
    assert operations["example.logbook.dictate"]["schema"]["properties"]["lines"]["maximum"] == 600
    made = up.post("/api/jobs", {"operation": "example.logbook.dictate", "payload": {"lines": 2, "seconds_per_line": 0}})
    assert made.status_code == 201
    until(lambda: up.get(f"/api/jobs/{made.json()['id']}")["state"] == "succeeded", timeout=60)
    outside = {"operation": "example.document.read", "payload": {"folder": "../..", "name": "passwd"}}
    assert up.post("/api/jobs", outside).status_code == 422


def test_it_has_schedules_and_a_worker(up):
    assert len(own(up.get("/api/schedules"))) == 3
    [worker] = [one for one in up.get("/api/workers") if one["alive"]]
    assert worker["name"] == "towpath up"


def test_a_second_start_adds_nothing_and_the_first_ends_gracefully(tmp_path):
    settings = {"TOWPATH_DRAIN_SECONDS": "0.2"}
    with started("up", "--data", tmp_path / "d", "--port", "0", env=settings) as process, Running(process) as first:
        until(lambda: first.jobs(operation="example.logbook.dictate", state="running"), timeout=60)
        before = len([job for job in first.jobs() if job["parent_id"] is None])
        with first.browser.stream("GET", "/api/events") as stream:
            assert stream.status_code == 200
            process.popen.send_signal(signal.SIGINT)
            began = time.monotonic()
            for _ in stream.iter_bytes():
                assert time.monotonic() - began < 30, "the stream did not end"
        assert process.end(timeout=30) == 0, process.out + process.err
    assert process.out.rstrip().endswith("stopped")
    log = (tmp_path / "d/towpath.log").read_text("utf-8")
    assert not re.search(r"ERROR (asyncio|uvicorn|towpath\.http)", log), log
    command = ("up", "--data", tmp_path / "d", "--port", "0", "--no-example")
    with started(*command, env=settings) as process, Running(process) as again:
        assert len([job for job in again.jobs() if job["parent_id"] is None]) <= before + 2  # the schedules' own
        names = [event["name"] for job in again.jobs(operation="example.logbook.dictate", state=["running", "queued"])
                 for event in again.get(f"/api/jobs/{job['id']}/events")["items"]]  # fmt: skip
        assert "job.released" in names
        process.terminate()
        assert process.end(timeout=30) == 0, process.out + process.err


def test_a_busy_port_is_told_before_anything_else(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = Commands("sqlite:///unused.db")("up", "--data", tmp_path / "d", "--port", port, code=2)
    assert f"port {port} on 127.0.0.1 is taken" in result.stderr
    assert "login-link" in result.stderr
    assert f"--port {port + 1}, or make up PORT={port + 1}" in result.stderr
    assert not (tmp_path / "d/towpath.db").exists()


def test_a_place_that_cannot_hold_it_is_refused(tmp_path):
    (tmp_path / "taken").touch()
    assert "taken" in Commands("sqlite:///unused.db")("up", "--data", "taken", code=2).stderr


def test_an_address_that_others_can_reach_needs_an_account_with_a_password(tmp_path):
    result = Commands("sqlite:///unused.db")("up", "--data", tmp_path / "d", "--host", "0.0.0.0", "--port", "0", code=2)
    assert "towpath users create NAME --admin --data d" in result.stderr
    assert not (tmp_path / "d").exists()


def test_a_start_that_is_refused_leaves_a_database_as_it_was(tmp_path):
    data = tmp_path / "d"
    towpath = Commands("sqlite:///unused.db")
    data.mkdir()
    Commands(f"sqlite:///{data / 'towpath.db'}").enqueue("add", {"a": 1, "b": 2})  # an app's own, without accounts
    before = towpath("migrate", "--check", "--data", data, code=1).stdout
    towpath("up", "--data", data, "--host", "0.0.0.0", "--port", "0", code=2)
    assert towpath("migrate", "--check", "--data", data, code=1).stdout == before
    assert not (data / "towpath.log").exists()


def _shop(folder, url=""):
    (folder / "corner_shop.py").write_text(
        "from towpath import App, Context\n"
        f"app = App({url!r} or None)\n"
        "@app.operation('double', public=True)\n"
        "async def double(ctx: Context, number: int) -> int:\n"
        "    return number * 2\n"
    )


SHOP = ("--app", "corner_shop:app")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("sqlite:///elsewhere.db", "the database is sqlite:///elsewhere.db, which corner_shop:app names"),
        ("", "the database is sqlite:///towpath.db, the default of corner_shop:app"),
    ],
)
def test_the_apps_own_database_is_served_and_commands_with_the_app_reach_it(tmp_path, url, why):
    _shop(tmp_path, url)
    with started("up", *SHOP, "--port", "0", cwd=tmp_path) as process, Running(process) as running:
        with started("enqueue", "double", "--payload", "21", *SHOP, cwd=tmp_path) as command:
            assert command.end() == 0, command.err
        job = f"/api/jobs/{command.out.strip()}"
        until(lambda: running.get(job)["state"] == "succeeded", timeout=30)
        assert why in process.out
        process.terminate()
        assert process.end(timeout=60) == 0
    assert not (tmp_path / "towpath-data").exists()


def test_a_data_directory_beats_the_apps_database_and_both_are_told(tmp_path):
    _shop(tmp_path, "sqlite:///elsewhere.db")
    with started("up", *SHOP, "--data", "d", "--port", "0", cwd=tmp_path) as process, Running(process) as running:
        assert "as --data says; corner_shop:app itself names sqlite:///elsewhere.db" in process.out
        assert "--data d too" in process.out
        again = re.search(r"another one: towpath (.*)", process.out)[1].split()
        with started(*again, cwd=tmp_path) as command:
            assert command.end() == 0, command.err
        assert command.out.startswith(f"{running.browser.base_url}/login?token=".replace("//login", "/login"))
        process.terminate()
        assert process.end(timeout=60) == 0
    assert not (tmp_path / "elsewhere.db").exists()
    assert not list((tmp_path / "d").glob("*-address*"))


def test_the_setting_does_not_lead_the_example_into_somebodys_database(tmp_path):
    with started("up", "--no-example", "--port", "0", cwd=tmp_path, env={"TOWPATH_DATABASE_URL": "sqlite:///own.db"}) as one:
        until(lambda: LINK.search(one.out) or one.popen.poll() is not None, timeout=60)
        assert "give commands --data towpath-data" in one.out
    assert not (tmp_path / "own.db").exists()

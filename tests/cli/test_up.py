"""towpath up: the example runs end to end, as a real process, and what it says to try next works."""

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.commands import Commands, started, until
from towpath.cli.example.documents import SHELVES

DOCUMENTS = sum(shelf.documents for shelf in SHELVES)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One run with its output piped; its folder, and what it wrote."""
    folder = tmp_path_factory.mktemp("up")
    with started("up", cwd=folder) as process:
        assert process.end(timeout=180) == 0, process.out + process.err
    assert process.err == ""
    return folder / "towpath-data", process.out


def test_a_place_that_cannot_hold_it_is_refused(tmp_path):
    (tmp_path / "taken").touch()
    assert "taken" in Commands("sqlite:///unused.db")("up", "--data", "taken", code=2).stderr


@pytest.fixture
def towpath(run):
    return Commands(f"sqlite:///{run[0]}/jobs.db")


def test_every_document_is_read_and_packed_but_the_broken_one(run, towpath):
    data, _ = run
    states = {}
    for job in towpath.json("jobs", "list", "--limit", "200"):
        states.setdefault((job["operation"], job["state"]), []).append(job)
    assert len(states[("document.read", "succeeded")]) == DOCUMENTS - 1
    assert len(states[("document.read", "failed")]) == 1
    assert len(states[("document.pack", "succeeded")]) == DOCUMENTS
    assert [job["tenant"] for job in states[("collection.read", "partial")]] == ["cedar"]
    assert len(list(data.glob("archive/*/*.xz"))) == DOCUMENTS
    assert "french" in (data / "reports/birch.md").read_text("utf-8")


def test_something_was_retried_and_no_step_was_run_twice(towpath):
    read = towpath.json("jobs", "list", "--operation", "document.read", "--state", "succeeded", "--limit", "200")
    retried = [job for job in read if job["failures"]]
    assert retried
    for job in retried:
        events = towpath.json("jobs", "show", job["id"], "--events", "1000")["events"]
        done = [event["fields"]["step"] for event in events if event["name"] == "step.completed"]
        assert len(done) == len(set(done)) == 5


def test_piped_output_is_plain_lines_and_ends_with_what_to_try(run):
    data, output = run
    assert "\x1b" not in output
    assert "cedar  document.read   logbook-01.txt failed: encoding:" in output
    assert "will be tried again: the language service answers 503" in output
    assert "what to do: requeue it with its true encoding" in output
    assert f"export TOWPATH_DATABASE_URL=sqlite:///{data}/jobs.db" in output


def test_the_commands_it_tells_to_try_work(run, towpath):
    _, output = run
    told = re.findall(r"^  towpath (.+)$", output, re.MULTILINE)
    looking = [shlex.split(line) for line in told if not line.startswith(("jobs retry", "worker"))]
    assert len(looking) == 5
    for command in looking:
        towpath(*command)


def test_a_second_run_on_a_terminal_adds_to_the_first_and_the_broken_document_can_be_mended(run, towpath):
    data, output = run
    with started(
        "up", "--data", data, env={"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}, terminal=True
    ) as again:
        assert again.end(timeout=180) == 0, again.out + again.err
    assert "running now" in again.out
    assert len(towpath.json("inbox", "list")) == 2
    [line] = re.findall(r"^  towpath (jobs retry .+)$", output, re.MULTILINE)
    towpath(*shlex.split(line))
    assert len(towpath.json("inbox", "list")) == 1
    with started("worker", "--app", "towpath.cli.example:app", env={"TOWPATH_DATABASE_URL": towpath.url}) as worker:
        until(lambda: not _live(towpath), timeout=120)
        worker.terminate()
        assert worker.end() == 0
    mended = towpath.json("jobs", "show", shlex.split(line)[2])
    assert (mended["state"], mended["result"]["language"]) == ("succeeded", "german")
    assert towpath.json("jobs", "show", mended["parent_id"])["state"] == "succeeded"
    assert "logbook-01.txt" in Path(data / "reports/cedar.md").read_text("utf-8")


def _live(towpath):
    return [job for state in ("queued", "running", "waiting") for job in towpath.json("jobs", "list", "--state", state)]

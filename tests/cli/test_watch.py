"""towpath jobs watch, as a real process beside the one that works."""

import json
import signal

import pytest

from tests.cli.commands import started, until


def _watch(towpath, job_id, *options, **how):
    return started("jobs", "watch", job_id, *options, env={"TOWPATH_DATABASE_URL": towpath.url, "COLUMNS": "120"}, **how)


def test_a_job_is_followed_until_it_has_succeeded(towpath_on_both):
    job_id = towpath_on_both.enqueue("order", {"article": "oar"})
    with _watch(towpath_on_both, job_id) as watching:
        until(lambda: "job.created" in watching.out)
        assert "no live worker serves the queue 'orders'" in watching.out
        towpath_on_both.drain()
        assert watching.end() == 0
    names = [line.split()[1] for line in watching.out.splitlines()[1:-1]]
    assert names[0] == "job.created"
    assert names[-1] == "job.succeeded"
    assert watching.out.splitlines()[-1].split() == ["order", "succeeded"]


def test_a_failure_is_told_with_what_to_do_and_an_exit_code(towpath):
    job_id = towpath.enqueue("break", {})
    with _watch(towpath, job_id) as watching:
        until(lambda: "job.created" in watching.out)
        towpath.drain()
        assert watching.end() == 1
    assert "part 17 is broken" in watching.out
    assert "what to do: order a new part, then requeue" in watching.out


def test_a_cancelled_job_ends_the_watch_with_an_exit_code(towpath):
    job_id = towpath.enqueue("add", {"a": 1, "b": 2})
    with _watch(towpath, job_id) as watching:
        until(lambda: "job.created" in watching.out)
        towpath("jobs", "cancel", job_id)
        assert watching.end() == 1


def test_a_terminal_gets_a_progress_bar(towpath):
    job_id = towpath.enqueue("several", {"good": 3})
    with _watch(towpath, job_id, terminal=True) as watching:
        until(lambda: "job.created" in watching.out)
        towpath.drain()
        assert watching.end() == 0
    assert "━" in watching.out
    assert "3/3" in watching.out


@pytest.mark.parametrize(("bad", "code"), [(0, 0), (1, 0), (2, 1)])
def test_an_ended_job_answers_at_once(towpath, bad, code):
    good = 0 if code else 1
    job_id = towpath.enqueue("several", {"good": good, "bad": bad})
    towpath.drain()
    state = towpath("jobs", "watch", job_id, "--events", "1", code=code).stdout.splitlines()
    assert {"several succeeded": 0, "several partial": 0, "several failed": 1}[state[1]] == code


def test_events_can_be_had_as_lines_of_json(towpath):
    job_id = towpath.enqueue("add", {"a": 1, "b": 2})
    towpath.drain()
    events = [json.loads(line) for line in towpath("jobs", "watch", job_id, "--json").stdout.splitlines()]
    assert [event["name"] for event in events] == ["job.created", "job.started", "job.succeeded"]


def test_a_watch_can_be_left_without_harm(towpath):
    job_id = towpath.enqueue("add", {"a": 1, "b": 2})
    with _watch(towpath, job_id) as watching:
        until(lambda: "job.created" in watching.out)
        watching.popen.send_signal(signal.SIGINT)
        assert watching.end() == 130
    assert watching.err == ""
    assert towpath.json("jobs", "show", job_id)["state"] == "queued"

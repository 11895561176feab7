"""towpath inbox."""

import pytest

from tests.cli.commands import words


@pytest.fixture
def failed(towpath_on_both):
    towpath = towpath_on_both
    for part in (1, 2, 3):
        towpath.enqueue("break", {"part": part}, tenant="alice" if part == 1 else "bob")
    towpath.enqueue("flaky", {})
    towpath.drain()
    return towpath


def test_failures_are_grouped_by_cause_with_what_to_do(failed):
    shown = words(failed("inbox").stdout)
    assert "3 jobs of break fatal part … is broken what to do: order a new part, then requeue" in shown
    assert "1 job of flaky transient the line is busy" in shown
    groups = {group["operation"]: group for group in failed.json("inbox")}
    assert (groups["break"]["jobs"], groups["break"]["remedy"]) == (3, "order a new part, then requeue")
    assert [group["jobs"] for group in failed.json("inbox", "--tenant", "alice")] == [1]


def test_the_failed_jobs_themselves_are_listed_oldest_first(failed):
    listed = failed.json("inbox", "list", "--operation", "break")
    assert [job["payload"]["part"] for job in listed] == [1, 2, 3]
    assert [job["operation"] for job in failed.json("inbox", "list", "--kind", "transient")] == ["flaky"]
    assert len(failed.json("inbox", "list", "--message", "part … is broken", "--tenant", "bob")) == 2
    page = failed("inbox", "list", "--limit", "1").stdout
    assert f"--after {listed[0]['id']}" in page
    rest = failed.json("inbox", "list", "--operation", "break", "--after", listed[0]["id"])
    assert [job["payload"]["part"] for job in rest] == [2, 3]


def test_a_filter_is_requeued(failed):
    requeue = ("inbox", "requeue", "--operation", "break", "--kind", "fatal", "--message", "part … is broken")
    assert failed(*requeue, "--tenant", "bob").stdout == "2 jobs requeued\n"
    assert len(failed.json("jobs", "list", "--state", "queued")) == 2
    assert len(failed.json("inbox", "list")) == 2


def test_single_jobs_are_requeued_with_an_edited_payload(failed):
    one, two, three = (job["id"] for job in failed.json("inbox", "list", "--operation", "break"))
    assert failed("inbox", "requeue", "--id", one, "--id", two, "--payload", '{"part": 9}').stdout == "2 jobs requeued\n"
    assert failed.json("jobs", "show", one)["payload"] == {"part": 9}
    assert failed.json("jobs", "show", three)["state"] == "failed"


def test_everything_is_requeued(failed):
    assert failed("inbox", "requeue", "--all").stdout == "4 jobs requeued\n"
    assert words(failed("inbox").stdout) == "the inbox is empty"
    assert words(failed("inbox", "list").stdout) == "nothing in the inbox matches"


def test_a_requeue_must_say_what_it_means(towpath):
    for args in ([], ["--all", "--operation", "break"], ["--all", "--id", "x"]):
        assert "say which jobs" in words(towpath("inbox", "requeue", *args, code=2).stderr)


def test_a_job_that_cannot_be_requeued_is_told(towpath):
    live = towpath.enqueue("add", {"a": 1, "b": 2})
    result = towpath("inbox", "requeue", "--id", live, code=2)
    assert result.stdout == "0 jobs requeued\n"
    assert f"{live} was not requeued" in result.stderr

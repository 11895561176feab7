"""towpath jobs list."""

import pytest

from tests.cli.commands import Commands, words


@pytest.fixture
def filled(towpath_on_both):
    towpath = towpath_on_both
    towpath.enqueue("add", {"a": 1, "b": 2}, tenant="alice")
    towpath.enqueue("break", {}, tenant="bob")
    towpath.drain()
    towpath.enqueue("add", {"a": 3, "b": 4}, tenant="bob", priority=0)
    return towpath


def test_jobs_are_listed_newest_first_with_what_is_worth_knowing(filled):
    lines = filled("jobs", "list").stdout.splitlines()
    assert lines[0].split() == ["id", "state", "operation", "tenant", "age", "about"]
    assert [line.split()[1:4] for line in lines[1:]] == [
        ["queued", "add", "bob"],
        ["failed", "break", "bob"],
        ["succeeded", "add", "alice"],
    ]
    assert "part 17 is broken" in lines[2]


def test_filters_narrow_the_list(filled):
    def listed(*filters):
        return [(job["operation"], job["tenant"], job["state"]) for job in filled.json("jobs", "list", *filters)]

    assert listed("--tenant", "bob", "--operation", "add") == [("add", "bob", "queued")]
    assert listed("--state", "FAILED") == [("break", "bob", "failed")]
    assert listed("--queue", "sums", "--state", "succeeded") == [("add", "alice", "succeeded")]
    assert listed("--tenant", "nobody") == []


def test_a_full_page_says_how_to_go_on(filled):
    [first] = filled.json("jobs", "list", "--limit", "1")
    page = filled("jobs", "list", "--limit", "1").stdout
    assert f"--before {first['id']}" in page
    [second] = filled.json("jobs", "list", "--limit", "1", "--before", first["id"])
    assert second["id"] < first["id"]


def test_the_children_of_a_job_can_be_listed(towpath):
    parent = towpath.enqueue("several", {"good": 2, "bad": 1})
    towpath.drain()
    children = towpath.json("jobs", "list", "--parent", parent)
    assert sorted(job["operation"] for job in children) == ["add", "add", "break"]
    assert {job["parent_id"] for job in children} == {parent}
    assert len(towpath.json("jobs", "list", "--parent", parent, "--operation", "break")) == 1
    assert towpath.json("jobs", "list", "--parent", parent, "--tenant", "nobody") == []


def test_an_empty_list_says_so(towpath):
    towpath("migrate")
    assert words(towpath("jobs", "list").stdout) == "no jobs match"
    assert towpath.json("jobs", "list") == []


def test_what_comes_from_a_job_cannot_drive_the_terminal(towpath):
    towpath.enqueue("add", {"a": 1, "b": 2}, tenant="eve\x1b[31m\x9b2J", key="[bold red]k[/]")
    shown = towpath("jobs", "list").stdout
    [job] = towpath.json("jobs", "list")
    shown += towpath("jobs", "show", job["id"]).stdout
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    assert "[bold red]k[/]" in shown
    assert job["tenant"] == "eve\x1b[31m\x9b2J"


def test_looking_leaves_nothing_behind(postgres_url, tmp_path):
    towpath = Commands(postgres_url)
    towpath("migrate")
    towpath("jobs", "list")
    towpath("doctor")
    assert list(tmp_path.iterdir()) == []

"""What cannot be done is told in one line, with exit code 2 and without a traceback."""

import pytest

from towpath.core.errors import TowpathError

NOBODY = "0198c2f0-6f0a-7c3e-8d1b-2f7a9c4e5b60"


def _line(result):
    [line] = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert result.stdout == ""
    return line


@pytest.mark.parametrize(
    "command",
    [
        ["jobs", "list"],
        ["jobs", "show", NOBODY],
        ["jobs", "watch", NOBODY],
        ["jobs", "cancel", NOBODY],
        ["explain", NOBODY],
        ["inbox"],
        ["queues"],
        ["workers"],
        ["schedules"],
        ["prune", "--older-than", "1d"],
        ["backup", "copy.db"],
        ["enqueue", "add", "--queue", "sums"],
    ],
    ids=" ".join,
)
def test_a_command_does_not_make_a_database_by_mistyping_its_name(towpath, tmp_path, command):
    assert "there is no database at" in _line(towpath(*command, code=2))
    assert not (tmp_path / "jobs.db").exists()


def test_a_database_that_lacks_migrations_is_not_migrated_in_passing(towpath, tmp_path):
    (tmp_path / "jobs.db").touch()
    assert "towpath migrate" in _line(towpath("jobs", "list", code=2))


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("mysql://host/jobs", "postgresql://"),
        ("sqlite:///", "sqlite:///jobs.db"),
        ("postgresql://nobody@127.0.0.1:1/jobs", "cannot be reached"),
    ],
)
def test_a_database_that_cannot_be_is_refused_with_what_to_write(towpath, url, hint):
    assert hint in _line(towpath("jobs", "list", "--database", url, code=2))


def test_a_file_that_is_no_database_is_refused(towpath, tmp_path):
    (tmp_path / "jobs.db").write_bytes(b"this is a letter to my aunt, and no database at all" * 100)
    assert "is not a healthy SQLite database" in _line(towpath("jobs", "list", code=2))


def test_a_setting_that_does_not_fit_is_named(towpath, monkeypatch):
    monkeypatch.setenv("TOWPATH_LEASE_SECONDS", "soon")
    assert "TOWPATH_LEASE_SECONDS" in _line(towpath("config", code=2))


@pytest.mark.parametrize("command", ["show", "watch"])
def test_an_unknown_job_is_named(towpath, command):
    towpath("migrate")
    assert NOBODY in _line(towpath("jobs", command, NOBODY, code=2))


def test_what_is_no_job_id_is_refused_with_what_one_looks_like(towpath):
    towpath("migrate")
    assert "an id looks like" in _line(towpath("explain", "my-job", code=2))


def test_debug_shows_the_error_itself(towpath):
    towpath("migrate")
    with pytest.raises(TowpathError):
        towpath("--debug", "explain", NOBODY)


def test_a_state_that_does_not_exist_is_refused_with_those_that_do(towpath):
    towpath("migrate")
    assert "queued, running, waiting" in _line(towpath("jobs", "list", "--state", "asleep", code=2))


def test_a_limit_of_zero_is_refused(towpath):
    assert "--limit" in towpath("jobs", "list", "--limit", "0", code=2).stderr

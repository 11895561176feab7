"""Which database a command means: --data, --database, the setting, ./towpath.db, or that of ./towpath-data."""

import json
import os

import pytest
import typer.main
from typer.testing import CliRunner

from tests.cli.commands import Commands, words
from towpath.cli.root import app as cli

LOOKING = [
    ["jobs", "list"], ["doctor"], ["inbox"], ["inbox", "list"], ["queues"], ["workers"], ["schedules"],
    ["migrate", "--check"], ["users", "list"], ["token", "list"], ["login-link", "--user", "alice"],
    ["prune", "--older-than", "1d"],
]  # fmt: skip


class Bare:
    """Runs commands without any setting, in the current directory."""

    def __call__(self, *args, code=0):
        result = CliRunner().invoke(cli, [str(arg) for arg in args], catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result


@pytest.fixture
def bare():
    return Bare()


@pytest.fixture
def data(tmp_path, bare):
    """A data directory as `towpath up` leaves it in the current directory."""
    bare("users", "create", "alice", "--data", "towpath-data")
    bare("migrate", "--data", "towpath-data")
    return tmp_path / "towpath-data"


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
def test_commands_find_the_data_directory_that_is_here(bare, data, tmp_path, command):
    bare(*command)
    assert not (tmp_path / "towpath.db").exists()


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
def test_commands_take_the_data_directory_from_elsewhere(bare, data, tmp_path, monkeypatch, command):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    bare(*command, "--data", data)
    assert os.listdir(".") == []


def _commands(command, path=("towpath",)):
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, (*path, name))


def test_every_command_that_takes_a_database_takes_a_data_directory():
    taking = {
        path: {option for parameter in command.params for option in parameter.opts}
        for path, command in _commands(typer.main.get_command(cli))
    }
    named = [path for path, options in taking.items() if "--database" in options]
    assert len(named) > 30
    assert [path for path in named if "--data" not in taking[path]] == []


def test_a_database_of_a_program_here_comes_before_the_data_directory(bare, data):
    bare("migrate", "--database", "sqlite:///towpath.db")
    job = bare("enqueue", "add", "--queue", "sums").stdout.strip()
    assert [one["id"] for one in json.loads(bare("jobs", "list", "--json").stdout)] == [job]
    assert json.loads(bare("jobs", "list", "--json", "--data", "towpath-data").stdout) == []


def test_the_setting_comes_before_what_is_here(data, tmp_path):
    told = Commands("sqlite:///other.db")("jobs", "list", code=2).stderr
    assert "there is no database at other.db" in told
    assert "towpath migrate" in told
    assert "towpath-data" not in told


def test_where_there_is_neither_both_places_and_the_option_are_named(bare, tmp_path):
    for command in (["jobs", "list"], ["login-link"], ["inbox"]):
        told = bare(*command, code=2).stderr
        assert "there is no database at towpath.db, and none in towpath-data" in told
        assert "--data DIR" in told
        assert "towpath migrate" not in told
    assert "--data DIR" in words(bare("doctor", code=1).stdout)
    assert os.listdir(tmp_path) == []


def test_the_hint_for_a_named_place_makes_that_one_and_no_other(bare, tmp_path):
    told = bare("jobs", "list", "--database", "sqlite:///shop.db", code=2).stderr
    hint = told.strip().rpartition("make a new one: towpath ")[2]
    bare(*hint.split())
    assert sorted(path.name for path in tmp_path.glob("*.db")) == ["shop.db"]
    assert "towpath up --data there" in bare("jobs", "list", "--data", "there", code=2).stderr


def test_two_names_for_one_database_are_refused(bare):
    told = bare("jobs", "list", "--data", "there", "--database", "sqlite:///x.db", code=2).stderr
    assert "two databases" in words(told)


def test_hints_about_a_data_directory_are_about_that_one(bare, data, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / "old").mkdir()
    (tmp_path / "old/towpath.db").touch()
    assert f"towpath migrate --data {tmp_path / 'old'}" in bare("jobs", "list", "--data", tmp_path / "old", code=2).stderr
    assert f"towpath migrate --data {tmp_path / 'old'}" in bare("token", "list", "--data", tmp_path / "old", code=2).stderr
    told = bare("login-link", "--user", "zoe", "--data", data, code=2).stderr
    assert f"towpath users create zoe --data {data}" in told

"""Every command can be understood from its own help."""

import pytest

from tests.cli.tree import calls, commands, examples, is_group, parameters, prose

ALL = dict(commands())
EVERY = pytest.mark.parametrize("name", ALL)


@EVERY
def test_every_command_says_what_it_does(name):
    assert len(prose(ALL[name])) > 20


@EVERY
def test_every_option_and_argument_says_what_it_means(name):
    silent = [item.name for item in parameters(ALL[name]) if not item.help]
    assert silent == []


@pytest.mark.parametrize(
    "name", [name for name, command in ALL.items() if not is_group(command) and name != "towpath version"]
)
def test_every_command_shows_examples_of_itself(name):
    own = [call for line in examples(ALL[name]) for call in calls(line) if call[: name.count(" ")] == name.split()[1:]]
    assert own


@EVERY
def test_every_example_names_commands_and_options_that_exist(name):
    for line in examples(ALL[name]):
        assert calls(line), line
        for call in calls(line):
            _check(line, call)


def _check(line, words):
    command, rest = ALL["towpath"], list(words)
    while is_group(command) and rest and not rest[0].startswith("-"):
        assert rest[0] in command.commands, line
        command = command.commands[rest.pop(0)]
    known = {option for item in command.params for option in (*item.opts, *item.secondary_opts)}
    assert {word for word in rest if word.startswith("--")} <= known, line


@pytest.mark.parametrize("name", ALL)
def test_help_is_printed(name, towpath):
    output = towpath(*name.split()[1:], "--help").stdout
    assert "Usage" in output
    assert prose(ALL[name]).split()[0] in output


def test_without_a_command_the_help_is_shown(towpath):
    assert "Run jobs" in towpath(code=2).output


def test_a_mistyped_command_is_refused_with_the_one_that_was_meant(towpath):
    assert "worker" in towpath("wroker", code=2).stderr


def test_the_version_is_told_by_command_and_by_option(towpath):
    assert towpath("version").stdout == towpath("--version").stdout

"""Every `towpath …` command in the documentation exists, with the options it is shown with."""

import re
import shlex

import pytest
import typer.main

from tests.docs.pages import PAGES, blocks, name_of
from towpath.cli.root import app as cli

ROOT_COMMAND = typer.main.get_command(cli)


def _commands(page):
    inline = re.findall(r"`(towpath [a-z][^`]*)`", page.read_text("utf-8"))
    lines = [line for name in ("sh", "bash") for block in blocks(page, name) for line in block.text.splitlines()]
    return [*inline, *(line for line in lines if line.startswith("towpath "))]


@pytest.mark.parametrize("page", [page for page in PAGES if _commands(page)], ids=name_of)
def test_the_commands_on_a_page_exist(page):
    for line in _commands(page):
        command, words = ROOT_COMMAND, shlex.split(line, comments=True)[1:]
        while hasattr(command, "commands") and words and not words[0].startswith("-"):
            assert words[0] in command.commands, line
            command = command.commands[words.pop(0)]
        known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert {word for word in words if word.startswith("-")} <= known, line
        if words:
            parser = command.make_parser(command.make_context(command.name, [], resilient_parsing=True))
            assert parser.parse_args(words)[1] == [], line

"""The tree of commands as typer has built it."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

import typer.main

from towpath.cli.root import app

# What typer itself brings to every command.
_GIVEN = {"help", "install_completion", "show_completion"}


def commands() -> Iterator[tuple[str, Any]]:
    """Every command and group with its full name, in the order they were registered."""
    yield from _below("towpath", typer.main.get_command(app))


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for child, below in getattr(command, "commands", {}).items():
        yield from _below(f"{name} {child}", below)


def is_group(command: Any) -> bool:
    return hasattr(command, "commands")


def parameters(command: Any) -> list[Any]:
    return [item for item in command.params if item.name not in _GIVEN]


def prose(command: Any) -> str:
    return (command.help or "").partition("\b")[0].strip()


def examples(command: Any) -> list[str]:
    _, _, block = (command.help or "").partition("\b")
    return [line.strip() for line in block.splitlines() if line.strip() and "Examples:" not in line]


def calls(example: str) -> list[list[str]]:
    """Every call of towpath in a line of shell, as its words; what other programs are given is left out."""
    found = []
    for piece in re.split(r"\$\(|\)|\||&&", re.sub(r"'[^']*'", "TEXT", example)):
        words = [word for word in shlex.split(piece) if not re.match(r"[A-Z_]+=", word)]
        if words and words[0] == "towpath":
            found.append(words[1:])
    return found

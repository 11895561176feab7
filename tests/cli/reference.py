"""Writes docs/reference from the commands and settings themselves: python -m tests.cli.reference."""

from pathlib import Path
from typing import Any

from tests.cli.tree import commands, examples, parameters, prose
from towpath import config

REFERENCE = Path(__file__).parents[2] / "docs/reference"

_CLI = """# Commands

`towpath --help` lists the commands, and each has its own `--help`; this page says the same. It is made from them by
`python -m tests.cli.reference`.

**The database** is the one `--database URL` or `--data DIR` names, DIR being the data directory of `towpath up`; else the
one in `TOWPATH_DATABASE_URL`, else `./towpath.db`, else that of `./towpath-data`, if there is one. Commands that look at
jobs or move them need nothing else; they neither create a database nor migrate one. Those that take `--app module:name` use
the app's own database unless told otherwise, and know your operations: their queues, and the types of their payloads.
The current directory can be imported from.

**A job** is named by its id, or by how it begins or ends, such as the last eight characters that the UI shows, if it is one
of the newest 10,000 and the only one of them that does. `towpath jobs delete` wants the whole id.

**Exit codes:** 0, it was done; 1, it was done and the answer is bad news (`towpath doctor` found a problem, the watched job
failed, `towpath migrate --check` found something missing); 2, it could not be done, and a line on standard error says why;
130, it was interrupted. `towpath --debug` shows the traceback of an error.

**For scripts:** `--json` writes JSON with all fields, times in UTC. Output that is piped is not cut to a terminal's width.
"""

_SETTINGS = """# Settings

Every setting is read from the environment when a process starts; a value that does not fit is refused with its name.
`towpath config` shows what is in force. An app that is given none reads them itself, as `App()` does.

Each can also be in a file: `TOWPATH_DATABASE_URL_FILE=/run/secrets/database_url` instead of `TOWPATH_DATABASE_URL`, and so
for all others. White space around the value is left out. That is for passwords and keys, which too many can see in an
environment.

An app can be given its own. `App(settings=Settings.load(lease_seconds=60))` takes what is given there first, then what the
environment says, then the default. `App(settings=Settings(lease_seconds=60))` does not look at the environment at all: what
is not given is the default, which is what a test wants. The database named by `App(url)` goes before every setting.

This page is made from the settings themselves by `python -m tests.cli.reference`.
"""


def cli_page() -> str:
    parts = [_CLI]
    for name, command in commands():
        parts.append(f"{'##' if name.count(' ') < 2 else '###'} {name}\n\n{_escaped(prose(command))}\n")
        if any(item.param_type_name == "argument" for item in parameters(command)):
            parts.append(f"```text\n{_usage(name, command)}\n```\n")
        if rows := [_row(item) for item in parameters(command)]:
            parts.append("| option | default | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n")
        if lines := examples(command):
            parts.append("```text\n" + "\n".join(lines) + "\n```\n")
    return "\n".join(parts)


def _usage(name: str, command: Any) -> str:
    words = [item.metavar or item.name.upper() for item in parameters(command) if item.param_type_name == "argument"]
    return " ".join([name, *words, "[OPTIONS]"])


def _row(item: Any) -> str:
    if item.param_type_name == "argument":
        name = f"`{item.metavar or item.name.upper()}`"
    else:
        value = "" if item.is_flag else f" {item.metavar or item.name.upper()}"
        name = " ".join(f"`{option}{value}`" for option in item.opts)
    default = "required" if item.required else "" if item.default in (None, False) else f"`{item.default}`"
    return f"| {name.replace('|', chr(92) + '|')} | {default} | {_escaped(item.help)} |"


def _escaped(text: str) -> str:
    return (
        " ".join(text.split()).replace("|", "\\|") if "\n\n" not in text else "\n\n".join(map(_escaped, text.split("\n\n")))
    )


def settings_page() -> str:
    lines = [_SETTINGS, "| setting | default | meaning |", "|---|---|---|"]
    for name, default, meaning in config.documented():
        shown = "" if default == "" else f"`{str(default).lower() if isinstance(default, bool) else default}`"
        lines.append(f"| `{name}` | {shown} | {_escaped(meaning)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    REFERENCE.mkdir(parents=True, exist_ok=True)
    (REFERENCE / "cli.md").write_text(cli_page(), "utf-8")
    (REFERENCE / "settings.md").write_text(settings_page(), "utf-8")


if __name__ == "__main__":
    main()

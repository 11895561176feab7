"""towpath config: every setting, what it is now, what it would be, what it means."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from towpath import config as configuration
from towpath.cli.options import AsJson
from towpath.cli.screen import clean, console, say_json
from towpath.core.masking import masked


def config(as_json: AsJson = False) -> None:
    """Shows every setting: its value now, its default and its meaning.

    Each is read from the environment variable of its name. Passwords are not shown.

    \b
    Examples:
      towpath config
      TOWPATH_LEASE_SECONDS=60 towpath config --json
    """
    rows = _settings()
    if as_json:
        say_json(rows)
        return
    screen = console()
    for row in rows:
        changed = row["value"] != row["default"]
        value = Text(f"{_shown(row['value'])} (default {_shown(row['default'])})" if changed else _shown(row["value"]))
        value.stylize("green" if changed else "")
        screen.print(Text.assemble((f"{row['name']}  ", "bold"), value), soft_wrap=True)
        screen.print(Text(f"  {row['meaning']}", "dim"))
    for name in configuration.unknown():
        screen.print(f"{clean(name)} is set, but there is no such setting: it has no effect", style="yellow")


def _settings() -> list[dict[str, Any]]:
    now = configuration.load()
    rows = []
    for name, default, meaning in configuration.documented():
        value = getattr(now, name.removeprefix("TOWPATH_").lower())
        if value and name in configuration.secrets():
            value = "***"
        rows.append(
            {
                "name": name,
                "value": masked(value) if isinstance(value, str) else value,
                "default": default,
                "meaning": meaning,
            }
        )
    return rows


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "–" if value == "" else clean(f"{value:g}" if isinstance(value, float) else value)

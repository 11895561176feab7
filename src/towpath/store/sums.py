"""What SQL is made of the columns that statistics add up.

There are four lists of them: `counts` (what happened to jobs), `flows` (the counts, and the seconds they took), `levels`
(how many jobs are in a state) and `usage` (of models). A statement names a list by a placeholder, which says what it needs
of each column, here of the first count:

| placeholder           | what stands there, for each column                  |
|-----------------------|-----------------------------------------------------|
| `{counts}`            | `created`                                           |
| `{counts_summed}`     | `CAST(sum(created) AS bigint) AS created`           |
| `{counts_added}`      | `created = known.created + excluded.created`        |
| `{counts_parameters}` | `:created`                                          |
| `{counts_typed}`      | `created bigint`, as PostgreSQL unpacks JSON        |
| `{counts_unpacked}`   | `value ->> 'created' AS created`, as SQLite does it |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import get_type_hints

from towpath.core.count_deltas import COUNTS, FLOWS, LEVELS, CountDelta
from towpath.core.usage import SUMS, Usage

_LISTS = {"counts": COUNTS, "flows": FLOWS, "levels": LEVELS, "usage": SUMS}
_POSTGRES_TYPES = {
    name: {int: "bigint", float: "float8"}.get(hint, "")
    for name, hint in (get_type_hints(CountDelta) | get_type_hints(Usage)).items()
}


def _summed(name: str) -> str:
    """PostgreSQL answers the sum of whole numbers as a decimal fraction unless it is asked for another type."""
    return f"CAST(sum({name}) AS bigint) AS {name}" if _POSTGRES_TYPES[name] == "bigint" else f"sum({name}) AS {name}"


_FORMS: dict[str, Callable[[str], str]] = {
    "": str,
    "_summed": _summed,
    "_added": lambda name: f"{name} = known.{name} + excluded.{name}",
    "_parameters": lambda name: f":{name}",
    "_typed": lambda name: f"{name} {_POSTGRES_TYPES[name]}",
    "_unpacked": lambda name: f"value ->> '{name}' AS {name}",
}


def _each(form: Callable[[str], str], names: Iterable[str]) -> str:
    return ", ".join(map(form, names))


SUM_FRAGMENTS = {
    f"{which}{suffix}": _each(form, names) for which, names in _LISTS.items() for suffix, form in _FORMS.items()
}

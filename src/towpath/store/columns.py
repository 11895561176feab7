"""What SQL is made of the list of columns, which is the fields of `Job`.

`Claimed` says which of them a claim answers, `NewJob` which of them come with a new job. A statement names them by a
placeholder, such as `{claimed}` or `{new_columns}`, that is filled when the statement is loaded. So a column is added to the
database by a migration, and to everything else by its field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any, get_args, get_type_hints

from towpath.core.lifecycle import TABLE, State
from towpath.core.records import (
    DELETED_SEQ,
    GATE_NONE,
    GATE_ROOTS,
    GATE_SLOTS,
    JOB_COLUMNS,
    Claimed,
    Job,
    NewJob,
    column,
)
from towpath.store.sums import SUM_FRAGMENTS

_TYPES: dict[Any, str] = {
    str: "text", int: "integer", float: "float8", bool: "boolean", datetime: "timestamptz", State: "text",
}  # fmt: skip
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def _python_type(hint: Any) -> Any:
    """`datetime` of `datetime | None`."""
    return next((one for one in get_args(hint) if one is not type(None)), hint)


def moments_of(record: type) -> list[str]:
    """Its fields that are moments."""
    return [name for name, hint in get_type_hints(record).items() if _python_type(hint) is datetime]


PYTHON_TYPES: dict[str, Any] = {column(name): _python_type(hint) for name, hint in get_type_hints(Job).items()}
POSTGRES_TYPES: dict[str, str] = {
    column(item.name): item.metadata.get("postgres") or _TYPES[PYTHON_TYPES[column(item.name)]] for item in fields(Job)
}

# Fields of NewJob that become the column of the same name as they are. What becomes of the others the statements say.
STRAIGHT: tuple[str, ...] = tuple(
    item.name
    for item in fields(NewJob)
    if item.name not in ("id", "payload_json", "key", "run_at", "delay", "root_id", "mould")
)
straight_of = attrgetter(*STRAIGHT)


def literal(value: Any) -> str:
    """As both databases write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise TypeError(f"a column's default is a text, a number, a bool or None, not {value!r}")


def _nullable(record: type, name: str) -> bool:
    return type(None) in get_args(get_type_hints(record)[name])


# What the lane and the root of most jobs are. These two come first among what is told of others.
_USUALLY = {"lane": "tenant", "root_id": "id"}
_claimed_fields = [item for item in fields(Claimed) if item.name != "queue"]
_always = [item for item in _claimed_fields if item.default is MISSING and item.name not in _USUALLY]
_rarely = [item for item in _claimed_fields if item not in _always]
assert [*_always, *_rarely] == _claimed_fields, "what a claim tells of every job comes first in Claimed"
ALWAYS_CLAIMED = len(_always)
"""How many columns a claim answers of every job, in the order of `Claimed`. All others come together, and only if one of
them differs from its default."""
USUAL = tuple([item.name for item in _always].index(_USUALLY[item.name]) for item in _rarely if item.name in _USUALLY)
"""Where in them the lane and the root are, for a job that is like most others; the rest of it is defaults."""
CLAIMED_TIMES = tuple(at for at, item in enumerate(_rarely) if PYTHON_TYPES[column(item.name)] is datetime)
"""Which of the others are moments, and come as seconds."""


def _unlike(item: Field[Any]) -> str:
    """The condition under which a claimed job differs from most others in this field."""
    name = column(item.name)
    if item.name in _USUALLY:
        return f"{name} <> {column(_USUALLY[item.name])}"
    if item.default is None:
        return f"{name} IS NOT NULL"
    differs = "IS DISTINCT FROM" if _nullable(Claimed, item.name) else "<>"
    return f"{name} {differs} {literal(item.default)}"


def _in_json(item: Field[Any], dialect: str) -> str:
    """A column as an item of a JSON array that says the same on both databases."""
    name, kind = column(item.name), PYTHON_TYPES[column(item.name)]
    if kind is datetime and dialect == "postgres":
        return f"date_part('epoch', {name})"
    if kind is bool and dialect == "sqlite":
        return f"json(CASE {name} WHEN true THEN 'true' WHEN false THEN 'false' ELSE 'null' END)"
    return name


def _claimed(dialect: str) -> dict[str, str]:
    for item in _always:
        if PYTHON_TYPES[column(item.name)] not in (str, int, float):
            raise TypeError(f"Claimed.{item.name}: give it a default; only texts and numbers are told of every job")
    # SQLite's claim reads the rows before it writes them.
    read = {"attempt": "attempt + 1"} if dialect == "sqlite" else {}
    array = "json_build_array" if dialect == "postgres" else "json_array"
    return {
        "claimed": ", ".join(read.get(item.name, column(item.name)) for item in _always),
        "nothing_claimed": ", ".join(["NULL"] * ALWAYS_CLAIMED),
        "claimed_if_unlike": " OR ".join(map(_unlike, _rarely)),
        "claimed_more": f"{array}({', '.join(_in_json(item, dialect) for item in _rarely)})",
    }


def _new_or_default() -> str:
    """Columns of new jobs, as they were sent by a release that may not have known all of them."""
    defaults = {item.name: item.default for item in fields(NewJob) if item.default not in (MISSING, None)}
    for name in defaults.keys() & set(STRAIGHT):
        if _nullable(NewJob, name):
            raise TypeError(f"NewJob.{name}: what may be None is None by default, or nobody could tell None from not known")
    values = (
        f"coalesce({name}, {literal(defaults[name])}::{POSTGRES_TYPES[name]}) AS {name}" if name in defaults else name
        for name in STRAIGHT
    )
    return ", ".join(values)


def _light(name: str) -> str:
    """Rows of lists go without what may be large in them."""
    return {"payload": "'null' AS payload", "result": "NULL AS result"}.get(name, name)


# What a lane's gate counts, in SQL; `gate_of` says the same.
_LANE_GATE = (
    f"CASE WHEN lane.max_slots IS NOT NULL THEN {GATE_SLOTS} WHEN lane.max_roots IS NOT NULL THEN {GATE_ROOTS} "
    f"ELSE {GATE_NONE} END"
)


def _states(of: Iterable[State]) -> str:
    return ", ".join(f"'{state.value}'" for state in State if state in of)


@cache  # for every statement that is loaded
def fragments(dialect: str) -> dict[str, str]:
    """What may stand for a placeholder in the engine's statements."""
    types = POSTGRES_TYPES
    return {
        "job_columns": ", ".join(JOB_COLUMNS),
        "light_job_columns": ", ".join(map(_light, JOB_COLUMNS)),
        "new_columns": ", ".join(STRAIGHT),
        "new_or_default": _new_or_default(),
        "new_columns_typed": ", ".join(f"{name} {types[name]}" for name in STRAIGHT),
        "new_values": ", ".join(f":{name}::{types[name]} AS {name}" for name in STRAIGHT),
        "before_claim": _states(TABLE["claim"].sources),
        "after_claim": _states(TABLE["claim"].targets),
        "before_plain_success": _states(TABLE["succeed"].sources & set(TABLE["claim"].targets)),
        "after_succeed": _states(TABLE["succeed"].targets),
        "lane_gate": _LANE_GATE,
        "deleted_seq": str(DELETED_SEQ),
        **_claimed(dialect),
        **SUM_FRAGMENTS,
    }


def filled(text: str, known: Mapping[str, str]) -> str:
    """The text with every placeholder that is known; in braces of any other kind nothing is changed."""
    while (new := _PLACEHOLDER.sub(lambda found: known.get(found[1], found[0]), text)) != text:
        text = new
    return text

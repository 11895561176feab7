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
from operator import attrgetter
from typing import Any, get_args, get_type_hints

from towpath.core.lifecycle import TABLE, State
from towpath.core.records import JOB_COLUMNS, Claimed, Job, NewJob, column
from towpath.store.sums import SUM_FRAGMENTS

_TYPES: dict[Any, str] = {
    str: "text", int: "integer", float: "float8", bool: "boolean", datetime: "timestamptz", State: "text",
}  # fmt: skip
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def _python_type(hint: Any) -> Any:
    """`datetime` of `datetime | None`."""
    return next((one for one in get_args(hint) if one is not type(None)), hint)


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


def _unlike(item: Field[Any]) -> str:
    """The condition under which a claimed job differs from most others in this field."""
    if item.default is MISSING:
        return {"lane": "lane <> tenant", "root_id": "root_id <> id"}[item.name]
    return f"{column(item.name)} IS NOT NULL" if item.default is None else f"{column(item.name)} <> {item.default}"


_claimed_fields = [item for item in fields(Claimed) if item.name != "queue"]
_always = [item for item in _claimed_fields if item.default is MISSING and item.name not in ("lane", "root_id")]
ALWAYS_CLAIMED = len(_always)
"""How many columns a claim answers of every job, in the order of `Claimed`. All others come together, and only if one of
them differs from its default."""


def _claimed(dialect: str) -> dict[str, str]:
    always, rarely = _always, [item for item in _claimed_fields if item not in _always]
    for item in rarely:
        if PYTHON_TYPES[column(item.name)] not in (str, int, float):
            raise TypeError(f"Claimed.{item.name}: only texts and numbers come with a claim, as both databases write them")
    array = "json_build_array" if dialect == "postgres" else "json_array"
    names = ", ".join(column(item.name) for item in rarely)
    return {
        "claimed": ", ".join(column(item.name) for item in always),
        "nothing_claimed": ", ".join(["NULL"] * ALWAYS_CLAIMED),
        "claimed_if_unlike": " OR ".join(map(_unlike, rarely)),
        "claimed_more": f"{array}({names})",
    }


def _light(name: str) -> str:
    """Rows of lists go without what may be large in them."""
    return {"payload": "'null' AS payload", "result": "NULL AS result"}.get(name, name)


def _states(of: Iterable[State]) -> str:
    return ", ".join(f"'{state.value}'" for state in State if state in of)


def fragments(dialect: str) -> dict[str, str]:
    """What may stand for a placeholder in the engine's statements."""
    types = POSTGRES_TYPES
    return {
        "job_columns": ", ".join(JOB_COLUMNS),
        "light_job_columns": ", ".join(map(_light, JOB_COLUMNS)),
        "new_columns": ", ".join(STRAIGHT),
        "new_columns_typed": ", ".join(f"{name} {types[name]}" for name in STRAIGHT),
        "new_values": ", ".join(f":{name}::{types[name]} AS {name}" for name in STRAIGHT),
        "before_claim": _states(TABLE["claim"].sources),
        "after_claim": _states(TABLE["claim"].targets),
        "after_succeed": _states(TABLE["succeed"].targets),
        **_claimed(dialect),
        **SUM_FRAGMENTS,
    }


def filled(text: str, known: Mapping[str, str]) -> str:
    """The text with every placeholder that is known; in braces of any other kind nothing is changed."""
    while (new := _PLACEHOLDER.sub(lambda found: known.get(found[1], found[0]), text)) != text:
        text = new
    return text

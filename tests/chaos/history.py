"""Everything a finished run left behind: the rows, the events and the testimony, as plain values.

The rows are read with plain SQL over drivers of their own (apsw, psycopg), not through the engine: what is being judged
must not be asked to read the evidence aloud.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads

from tests.chaos.witness import Sighting, testimony
from tests.soundness import unsound
from towpath.core.lifecycle import State
from towpath.core.records import JOB_FIELDS, Event, Job, column

_MOMENTS = frozenset({"run_at", "deadline", "lease_until", "created_at", "started_at", "finished_at", "ts", "paused_at"})
_FLAGS = frozenset({"ready", "parked", "leased", "closing"})


@dataclass
class History:
    jobs: dict[str, Job] = field(default_factory=dict)
    events: dict[str, list[Event]] = field(default_factory=dict)  # by job, ordered by seq
    steps: dict[str, set[str]] = field(default_factory=dict)  # by job: names of the steps on record as done
    lane_slots: dict[tuple[str, str], int] = field(default_factory=dict)
    lane_roots: dict[tuple[str, str], int] = field(default_factory=dict)
    queue_slots: dict[str, int] = field(default_factory=dict)
    sightings: list[Sighting] = field(default_factory=list)
    lease_seconds: float = 1.0
    fair_queues: frozenset[str] = frozenset()
    fair_slack: int = 40

    def of(self, job_id: str) -> list[Event]:
        return self.events.get(job_id, [])

    def seen(self, *kinds: str) -> list[Sighting]:
        return [sighting for sighting in self.sightings if sighting.kind in kinds]


def load(url: str, log: Path | str, **rules: Any) -> History:
    """Reads the database and the testimony. `rules` are what only the driver knows: lease_seconds, fair_queues."""
    tables = _tables(url)
    history = History(sightings=testimony(log), **rules)
    for row in tables["job"]:
        job = _job(row)
        history.jobs[job.id] = job
    for row in tables["job_event"]:
        event = _event(row)
        history.events.setdefault(event.job_id, []).append(event)
    for row in tables["step"]:
        if row["done"]:
            history.steps.setdefault(str(row["job_id"]), set()).add(row["name"])
    for row in tables["lane"]:
        if row["max_slots"] is not None:
            history.lane_slots[row["queue"], row["lane"]] = row["max_slots"]
        if row["max_roots"] is not None:
            history.lane_roots[row["queue"], row["lane"]] = row["max_roots"]
    history.queue_slots = {row["name"]: row["max_slots"] for row in tables["queue"] if row["max_slots"] is not None}
    return history


_ORDER = {"job": "id", "job_event": "job_id, seq", "step": "job_id, ord", "lane": "queue, lane", "queue": "name"}


def _tables(url: str) -> dict[str, list[dict[str, Any]]]:
    sqlite = url.startswith("sqlite:")
    prefix = "towpath_" if sqlite else "towpath."
    statements = [f"SELECT * FROM {prefix}{table} ORDER BY {order}" for table, order in _ORDER.items()]
    return dict(zip(_ORDER, (_sqlite_rows if sqlite else _postgres_rows)(url, statements), strict=True))


def _sqlite_rows(url: str, statements: list[str]) -> list[list[dict[str, Any]]]:
    connection = apsw.Connection(url.removeprefix("sqlite:///"))
    connection.set_busy_timeout(10_000)
    connection.row_trace = lambda cursor, row: dict(zip((item[0] for item in cursor.get_description()), row, strict=True))
    try:
        with connection:  # one transaction, one picture
            return [connection.execute(statement).fetchall() for statement in statements]
    finally:
        connection.close()


def _postgres_rows(url: str, statements: list[str]) -> list[list[dict[str, Any]]]:
    with psycopg.connect(url, row_factory=dict_row) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        set_json_loads(lambda text: bytes(text).decode() if not isinstance(text, str) else text, connection)
        return [connection.execute(statement).fetchall() for statement in statements]


def unsettled(url: str) -> list[dict[str, Any]]:
    """What is still going on: live jobs, leases that nobody has given back, schedules that are due."""
    live = "state IN ('queued', 'running', 'waiting') OR leased"
    columns = "id, operation, lane, state, reason, attempt, failures, ready, parked, leased, lease_until, run_at, deadline"
    now = "unixepoch('subsec')" if url.startswith("sqlite:") else "now()"
    due = rows(url, f"SELECT name AS id, operation, 'scheduled' AS state FROM towpath.schedule WHERE next_fire <= {now}")
    return rows(url, f"SELECT {columns} FROM towpath.job WHERE {live}") + due


def unsound_rows(url: str) -> list[dict[str, Any]]:
    """Rows that break a condition, see `tests/soundness.py`."""
    return rows(url, unsound("sqlite" if url.startswith("sqlite:") else "postgres"))


def live_workers(url: str) -> list[str]:
    """The names of the workers whose rows say that they are still there."""
    return [row["name"] for row in rows(url, "SELECT name FROM towpath.worker WHERE stopped_at IS NULL")]


def between_two_messages(url: str) -> bool:
    """Whether a session of PostgreSQL waits for the rest of what its client has begun to ask, inside a transaction."""
    return bool(
        rows(
            url,
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' "
            "AND wait_event = 'ClientRead' AND xact_start IS NOT NULL",
        )
    )


def rows(url: str, statement: str) -> list[dict[str, Any]]:
    """What a statement in PostgreSQL's words finds; tables are named as there."""
    if url.startswith("sqlite:"):
        return _sqlite_rows(url, [statement.replace("towpath.", "towpath_")])[0]
    return _postgres_rows(url, [statement])[0]


def _job(row: Mapping[str, Any]) -> Job:
    values = {name: _value(column(name), row[column(name)]) for name in JOB_FIELDS}
    for name in ("id", "parent_id", "root_id"):
        values[name] = str(values[name]) if values[name] is not None else None
    values["state"] = State(values["state"])
    return Job(**values)


def _event(row: Mapping[str, Any]) -> Event:
    return Event(
        job_id=str(row["job_id"]),
        seq=row["seq"],
        attempt=row["attempt"],
        name=row["name"],
        level=row["level"],
        message=row["message"],
        fields=json.loads(row["fields"]) if row["fields"] else None,
        ts=_value("ts", row["ts"]),
    )


def _value(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name in _MOMENTS and not isinstance(value, datetime):
        return datetime.fromtimestamp(value, UTC)
    return bool(value) if name in _FLAGS else value


def by_job(sightings: Iterable[Sighting]) -> dict[str, list[Sighting]]:
    found: dict[str, list[Sighting]] = {}
    for sighting in sightings:
        if sighting.job is not None:
            found.setdefault(sighting.job, []).append(sighting)
    return found

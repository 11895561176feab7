"""The statements of SQLite's hot path: claim and plain success, written out for speed."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, cast

import apsw

from towpath.core.lifecycle import TABLE
from towpath.core.transitions import Transition
from towpath.store import ledger
from towpath.store.contract import CLAIMED_COLUMNS, FAIR_ORDER, Claimed
from towpath.store.sqlite.tx import SqliteTx

_CLAIM_SOURCES = ", ".join(f"'{state.value}'" for state in TABLE["claim"].sources)
_PICK = "SELECT id FROM towpath_job WHERE queue = ? AND priority = ? AND ready AND pass >= ? ORDER BY pass, id LIMIT ?"
_CLAIM = f"""
UPDATE towpath_job
SET state = 'running', ready = 0, reason = NULL, leased = 1, lease_until = ?, worker_id = ?,
    attempt = attempt + 1, seq = seq + 1, started_at = coalesce(started_at, ?)
WHERE id IN (SELECT value FROM json_each(?)) AND state IN ({_CLAIM_SOURCES})
RETURNING {", ".join(CLAIMED_COLUMNS)}, seq, coalesce(due_at, created_at)
"""
_ATTEMPT = CLAIMED_COLUMNS.index("attempt")
_STARTED = "INSERT INTO towpath_event (job_id, seq, attempt, name, ts) VALUES (?, ?, ?, 'job.started', ?)"
_SUCCEED = """
UPDATE towpath_job
SET state = 'succeeded', leased = 0, lease_until = NULL, worker_id = NULL, reason = NULL, finished_at = ?,
    result = asked.result, error = NULL, error_kind = NULL, error_group = NULL, seq = seq + 1
FROM (SELECT value ->> 0 AS id, value ->> 1 AS attempt, value ->> 2 AS result FROM json_each(?)) AS asked
WHERE towpath_job.id = asked.id AND towpath_job.attempt = asked.attempt AND state = 'running'
  AND parent_id IS NULL AND gate = 0 AND children_total = 0
RETURNING towpath_job.id, seq, towpath_job.attempt, queue, operation, started_at
"""
_TALLY_STARTED = (
    "INSERT INTO towpath_tally (queue, operation, started, queued, running, wait_seconds, waits, at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_TALLY_SUCCEEDED = (
    "INSERT INTO towpath_tally (queue, operation, succeeded, running, run_seconds, runs, at) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_SUCCEEDED = "INSERT INTO towpath_event (job_id, seq, attempt, name, ts) VALUES (?, ?, ?, 'job.succeeded', ?)"


def has_ready(queue: str) -> Callable[[apsw.Connection], bool]:
    """A look without a transaction, so that an idle worker never takes the write lock."""
    return lambda connection: bool(
        connection.execute("SELECT 1 FROM towpath_job WHERE queue = ? AND ready LIMIT 1", (queue,)).fetchall()
    )


def claim(
    queue: str, cursors: Mapping[int, float], limit: int, worker_id: str, lease_seconds: float
) -> Callable[[SqliteTx], Awaitable[list[Claimed]]]:
    async def unit(tx: SqliteTx) -> list[Claimed]:
        connection = tx.connection
        room = await ledger.queue_room(tx, queue, limit)
        picked: list[str] = []
        for priority, cursor in sorted(cursors.items()):
            if len(picked) < room:
                found = connection.execute(_PICK, (queue, priority, cursor, room - len(picked)))
                picked += [str(row[0]) for row in found]
        now = tx.now.timestamp()
        until = (tx.now + timedelta(seconds=lease_seconds)).timestamp()
        rows = cast(list[Any], connection.execute(_CLAIM, (until, worker_id, now, json.dumps(picked))).fetchall())
        connection.executemany(_STARTED, [(row[0], row[-2], row[_ATTEMPT], now) for row in rows])
        claimed: list[Claimed] = []
        counts: dict[str, int] = {}
        waited: dict[str, list[float]] = {}
        for row in rows:
            job = Claimed(*row[:-2])
            claimed.append(job)
            counts[job.operation] = counts.get(job.operation, 0) + 1
            if job.attempt == 1:
                waited.setdefault(job.operation, []).append(now - row[-1])
        for operation, n in counts.items():
            waits = waited.get(operation, [])
            connection.execute(_TALLY_STARTED, (queue, operation, n, -n, n, sum(waits), _seconds(waits), now))
        return sorted(claimed, key=FAIR_ORDER)

    return unit


def turn(
    transitions: Sequence[Transition], claiming: Callable[[SqliteTx], Awaitable[list[Claimed]]]
) -> Callable[[SqliteTx], Awaitable[tuple[list[str | None], list[Claimed]]]]:
    """Both in one commit."""

    async def unit(tx: SqliteTx) -> tuple[list[str | None], list[Claimed]]:
        return await settle(tx, transitions), await claiming(tx)

    return unit


async def settle(tx: SqliteTx, transitions: Sequence[Transition]) -> list[str | None]:
    """Plain successes by one guarded statement; everything else, and what that one left alone, by the ledger."""
    plain = ledger.short_way(transitions)
    done = _succeed(tx, [transitions[index] for index in plain])
    settled = {index for index in plain if transitions[index].job_id in done}
    rest = [index for index in range(len(transitions)) if index not in settled]
    verdicts: list[str | None] = [None] * len(transitions)
    if rest:
        for index, verdict in zip(rest, await ledger.apply(tx, [transitions[i] for i in rest]), strict=True):
            verdicts[index] = verdict
    return verdicts


def _succeed(tx: SqliteTx, plain: Sequence[Transition]) -> set[str]:
    if not plain:
        return set()
    now = tx.now.timestamp()
    asked = json.dumps([(t.job_id, t.attempt, t.result_json) for t in plain])
    rows = cast(list[Any], tx.connection.execute(_SUCCEED, (now, asked)).fetchall())
    tx.connection.executemany(_SUCCEEDED, [(job_id, seq, attempt, now) for job_id, seq, attempt, *_ in rows])
    ran: dict[tuple[str, str], list[float]] = {}
    for *_, queue, operation, started_at in rows:
        ran.setdefault((queue, operation), []).append(now - started_at)
    for (queue, operation), seconds in ran.items():
        n = len(seconds)
        tx.connection.execute(_TALLY_SUCCEEDED, (queue, operation, n, -n, sum(seconds), _seconds(seconds), now))
    return {row[0] for row in rows}


def _seconds(values: list[float]) -> str | None:
    return json.dumps([round(value, 6) for value in values]) if values else None

"""The statements of SQLite's hot path: claim and plain success, written out for speed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, cast

import apsw

from towpath.core.lifecycle import TABLE
from towpath.core.transitions import Transition
from towpath.store import ledger
from towpath.store.contract import CLAIMED_COLUMNS, Claimed
from towpath.store.sqlite.tx import SqliteTx

_CLAIM_SOURCES = ", ".join(f"'{state.value}'" for state in TABLE["claim"].sources)
_PICK = "SELECT id FROM towpath_job WHERE queue = ? AND priority = ? AND ready AND pass >= ? ORDER BY pass, id LIMIT ?"
_CLAIM = f"""
UPDATE towpath_job
SET state = 'running', ready = 0, reason = NULL, leased = 1, lease_until = ?, worker_id = ?,
    attempt = attempt + 1, seq = seq + 1, started_at = coalesce(started_at, ?)
WHERE id = ? AND state IN ({_CLAIM_SOURCES})
RETURNING {", ".join(CLAIMED_COLUMNS)}, seq, created_at
"""
_STARTED = "INSERT INTO towpath_event (job_id, seq, attempt, name, ts) VALUES (?, ?, ?, 'job.started', ?)"
_SUCCEED = """
UPDATE towpath_job
SET state = 'succeeded', leased = 0, lease_until = NULL, worker_id = NULL, reason = NULL, finished_at = ?, result = ?,
    error = NULL, error_kind = NULL, error_group = NULL, seq = seq + 1
WHERE id = ? AND attempt = ? AND state = 'running' AND parent_id IS NULL AND gate = 0 AND children_total = 0
RETURNING seq, queue, operation, started_at
"""
_TALLY_STARTED = (
    "INSERT INTO towpath_tally (queue, operation, started, queued, running, wait_seconds, at) VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_TALLY_SUCCEEDED = (
    "INSERT INTO towpath_tally (queue, operation, succeeded, running, run_seconds, at) VALUES (?, ?, ?, ?, ?, ?)"
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
                rows = connection.execute(_PICK, (queue, priority, cursor, room - len(picked)))
                picked += [row[0] for row in rows]
        now = tx.now.timestamp()
        until = (tx.now + timedelta(seconds=lease_seconds)).timestamp()
        claimed: list[Claimed] = []
        waited: dict[str, list[float]] = {}
        for job_id in picked:
            for row in cast(list[Any], connection.execute(_CLAIM, (until, worker_id, now, job_id)).fetchall()):
                job = Claimed(*row[:-2])
                claimed.append(job)
                connection.execute(_STARTED, (job_id, row[-2], job.attempt, now))
                waited.setdefault(job.operation, []).append(now - row[-1] if job.attempt == 1 else 0.0)
        for operation, waits in waited.items():
            n = len(waits)
            connection.execute(_TALLY_STARTED, (queue, operation, n, -n, n, sum(waits), now))
        return claimed

    return unit


async def settle(tx: SqliteTx, transitions: Sequence[Transition]) -> list[str | None]:
    """Plain successes by one guarded statement each; everything else by the ledger."""
    verdicts: list[Any] = [None] * len(transitions)
    rest: list[int] = []
    ran: dict[tuple[Any, Any], list[float]] = {}
    now = tx.now.timestamp()
    for index, t in enumerate(transitions):
        if not t.solo:
            rest.append(index)
            continue
        rows: list[Any] = tx.connection.execute(_SUCCEED, (now, t.result_json, t.job_id, t.attempt)).fetchall()
        if rows:
            seq, queue, operation, started_at = rows[0]
            tx.connection.execute(_SUCCEEDED, (t.job_id, seq, t.attempt, now))
            ran.setdefault((queue, operation), []).append(now - started_at)
        else:
            rest.append(index)
    for (queue, operation), seconds in ran.items():
        n = len(seconds)
        tx.connection.execute(_TALLY_SUCCEEDED, (queue, operation, n, -n, sum(seconds), now))
    if rest:
        for index, verdict in zip(rest, await ledger.apply(tx, [transitions[i] for i in rest]), strict=True):
            verdicts[index] = verdict
    return verdicts

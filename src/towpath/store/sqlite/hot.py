"""The statements of SQLite's hot path: claim and plain success, written out for speed.

Whatever can be said in SQL is said in SQL, and answers come as one row of JSON. The interpreter's lock is free while a
statement runs and is fought over between its rows, so a turn of a hundred jobs is a dozen statements and a dozen rows.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from typing import Any

import apsw
from pydantic_core import from_json

from towpath.core.lifecycle import TABLE
from towpath.core.transitions import Transition
from towpath.store import ledger
from towpath.store.contract import FAIR_ORDER, Claim, Claimed, claimed
from towpath.store.sqlite.tx import SqliteTx

_CLAIM_SOURCES = ", ".join(f"'{state.value}'" for state in TABLE["claim"].sources)
_BAND = (
    "SELECT id FROM (SELECT id FROM towpath_job WHERE queue = ?1 AND priority = {0} AND ready AND pass >= {1} "
    "ORDER BY pass, id LIMIT ?2)"
)
_CLAIM = f"""
UPDATE towpath_job
SET state = 'running', ready = 0, reason = NULL, leased = 1, lease_until = ?, worker_id = ?,
    attempt = attempt + 1, seq = seq + 1, started_at = coalesce(started_at, ?)
WHERE id IN (SELECT value FROM json_each(?)) AND state IN ({_CLAIM_SOURCES})
"""
_LEASE = "INSERT INTO towpath_lease (id, worker_id, queue, jobs, until) VALUES (?, ?, ?, ?, ?)"
_STARTED = """
INSERT INTO towpath_event (job_id, seq, attempt, name, ts)
SELECT id, seq, attempt, 'job.started', ? FROM towpath_job WHERE id IN (SELECT value FROM json_each(?))
"""
_COUNT_STARTED = """
INSERT INTO towpath_tally (queue, operation, started, queued, running, wait_seconds, waits, at)
SELECT queue, operation, count(*), -count(*), count(*), coalesce(sum(waited), 0),
       '[' || group_concat(round(waited, 6)) || ']', ?1
FROM (SELECT queue, operation, CASE WHEN attempt = 1 THEN ?1 - coalesce(due_at, created_at) END AS waited
      FROM towpath_job WHERE id IN (SELECT value FROM json_each(?2)))
GROUP BY queue, operation
"""
# The last column is NULL for jobs without a family, a past or a lane of their own.
_TAKEN = """
SELECT json_group_array(json_array(id, operation, tenant, priority, pass, attempt, max_attempts, payload,
    CASE WHEN lane <> tenant OR parent_id IS NOT NULL OR root_id <> id OR failures > 0 OR retry_laters > 0 OR wakes > 0
           OR steps > 0 OR gate <> 0 OR children_total > 0 OR await_group IS NOT NULL OR await_open > 0
           OR progress_current IS NOT NULL OR progress_total IS NOT NULL OR trace IS NOT NULL
         THEN json_array(lane, root_id, parent_id, failures, retry_laters, wakes, steps, gate, children_total,
                         await_group, await_open, progress_current, progress_total, trace) || '' END))
FROM towpath_job WHERE id IN (SELECT value FROM json_each(?))
"""
_SUCCEED = """
UPDATE towpath_job
SET state = 'succeeded', leased = 0, lease_until = NULL, worker_id = NULL, reason = NULL, finished_at = ?,
    result = asked.result, error = NULL, error_kind = NULL, error_group = NULL, live_key = NULL, seq = seq + 1
FROM (SELECT value ->> 0 AS id, value ->> 1 AS attempt, value ->> 2 AS result FROM json_each(?)) AS asked
WHERE towpath_job.id = asked.id AND towpath_job.attempt = asked.attempt AND state = 'running'
  AND parent_id IS NULL AND gate = 0 AND children_total = 0
"""
# Of those that were asked for, the ones that ended just now: nobody else has this attempt.
_ENDED = """
SELECT json_group_array(job.id)
FROM json_each(?1) AS asked JOIN towpath_job AS job ON job.id = asked.value ->> 0 AND job.attempt = asked.value ->> 1
WHERE job.state = 'succeeded' AND job.finished_at = ?2
  AND NOT EXISTS (SELECT 1 FROM towpath_event AS event WHERE event.job_id = job.id AND event.seq = job.seq)
"""
_SUCCEEDED = """
INSERT INTO towpath_event (job_id, seq, attempt, name, ts)
SELECT id, seq, attempt, 'job.succeeded', ? FROM towpath_job WHERE id IN (SELECT value FROM json_each(?))
"""
_COUNT_SUCCEEDED = """
INSERT INTO towpath_tally (queue, operation, succeeded, running, run_seconds, runs, at)
SELECT queue, operation, count(*), -count(*), sum(?1 - started_at), '[' || group_concat(round(?1 - started_at, 6)) || ']', ?1
FROM towpath_job WHERE id IN (SELECT value FROM json_each(?2))
GROUP BY queue, operation
"""


def has_ready(queue: str) -> Callable[[apsw.Connection], bool]:
    """A look without a transaction, so that an idle worker never takes the write lock."""
    return lambda connection: bool(
        connection.execute("SELECT 1 FROM towpath_job WHERE queue = ? AND ready LIMIT 1", (queue,)).fetchall()
    )


def claim(claim: Claim) -> Callable[[SqliteTx], Awaitable[list[Claimed]]]:
    async def unit(tx: SqliteTx) -> list[Claimed]:
        return await _take(tx, claim)

    return unit


def turn(
    transitions: Sequence[Transition], claim: Claim
) -> Callable[[SqliteTx], Awaitable[tuple[list[str | None], list[Claimed]]]]:
    """Both in one commit."""

    async def unit(tx: SqliteTx) -> tuple[list[str | None], list[Claimed]]:
        return await settle(tx, transitions), await _take(tx, claim)

    return unit


async def settle(tx: SqliteTx, transitions: Sequence[Transition]) -> list[str | None]:
    """Plain successes by one guarded statement; everything else, and what that one left alone, by the ledger."""
    plain = ledger.short_way(transitions)
    done = _succeed(tx, [transitions[index] for index in plain])
    verdicts: list[str | None] = [None] * len(transitions)
    if len(done) == len(transitions):
        return verdicts
    settled = {index for index in plain if transitions[index].job_id in done}
    rest = [index for index in range(len(transitions)) if index not in settled]
    for index, verdict in zip(rest, await ledger.apply(tx, [transitions[i] for i in rest]), strict=True):
        verdicts[index] = verdict
    return verdicts


def _succeed(tx: SqliteTx, plain: Sequence[Transition]) -> set[str]:
    if not plain:
        return set()
    connection, now = tx.connection, tx.now.timestamp()
    asked = json.dumps([(t.job_id, t.attempt, t.result_json) for t in plain])
    connection.execute(_SUCCEED, (now, asked))
    if connection.changes() == len(plain):
        done = [t.job_id for t in plain]
    else:
        done = from_json(_one(connection, _ENDED, (asked, now)))
    ids = json.dumps(done)
    connection.execute(_SUCCEEDED, (now, ids))
    connection.execute(_COUNT_SUCCEEDED, (now, ids))
    return set(done)


async def _take(tx: SqliteTx, claim: Claim) -> list[Claimed]:
    """Not by `claim.after`: nothing that was claimed is left in the index to be skipped."""
    room = await ledger.queue_room(tx, claim.queue, claim.limit)
    if room <= 0:
        return []
    connection, now = tx.connection, tx.now.timestamp()
    bands = sorted(claim.cursors.items())
    places = [part for band in bands for part in band]
    ids = _one(connection, _pick(len(bands)), (claim.queue, room, *places))
    if ids == "[]":
        return []
    until = now + claim.lease_seconds
    connection.execute(_CLAIM, (until, claim.worker_id, now, ids))
    connection.execute(_LEASE, (claim.lease_id, claim.worker_id, claim.queue, ids, until))
    connection.execute(_STARTED, (now, ids))
    connection.execute(_COUNT_STARTED, (now, ids))
    return sorted([claimed(claim.queue, row) for row in from_json(_one(connection, _TAKEN, (ids,)))], key=FAIR_ORDER)


@lru_cache(maxsize=8)
def _pick(bands: int) -> str:
    """The first jobs of all bands, one band after the other; a band is not looked at if those before it have enough."""
    parts = [_BAND.format(f"?{2 * number + 3}", f"?{2 * number + 4}") for number in range(bands)]
    return f"SELECT json_group_array(id) FROM ({' UNION ALL '.join(parts)} LIMIT ?2)"


def _one(connection: apsw.Connection, statement: str, values: tuple[Any, ...]) -> str:
    return str(connection.execute(statement, values).get)

"""SQLite's hot path: claims and plain successes, each as one statement.

The interpreter's lock is free while a statement runs and is fought over between two of them. So what a claim or a settle
does is in `procedures.sql`, and Python calls it and reads one row of answers.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from importlib.resources import files
from typing import Any

import apsw
from pydantic_core import from_json

from towpath.core.records import PRIORITIES
from towpath.core.transitions import Transition
from towpath.store import ledger
from towpath.store.contract import Claim, Claimed, claimed
from towpath.store.sqlite.tx import SqliteTx

PROCEDURES = (files("towpath.store.sqlite") / "procedures.sql").read_text("utf-8")
_SETTLE = "INSERT INTO temp.towpath_settle (asked, now) VALUES (?, ?)"
_ENDED = "SELECT CASE WHEN count(*) < ? THEN json_group_array(id) END FROM temp.towpath_ended"
_CLAIM = (
    "INSERT INTO temp.towpath_claim (queue, room, worker_id, lease_id, until, now, cursor_0, cursor_1, cursor_2, cursor_3) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_TAKEN = "SELECT '[' || group_concat(taken) || ']' FROM temp.towpath_begun"


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
    asked = json.dumps([(t.job_id, t.attempt, t.result_json) for t in plain])
    _call(tx.connection, _SETTLE, (asked, tx.now.timestamp()))
    fewer = _one(tx.connection, _ENDED, (len(plain),))
    return {t.job_id for t in plain} if fewer is None else set(from_json(fewer))


async def _take(tx: SqliteTx, claim: Claim) -> list[Claimed]:
    """Not by `claim.after`: nothing that was claimed is left in the index to be skipped."""
    room = await ledger.queue_room(tx, claim.queue, claim.limit)
    if room <= 0:
        return []
    now = tx.now.timestamp()
    cursors = (claim.cursors.get(band) for band in PRIORITIES)  # a band without one gives nothing
    until = now + claim.lease_seconds
    _call(tx.connection, _CLAIM, (claim.queue, room, claim.worker_id, claim.next_try(), until, now, *cursors))
    taken = _one(tx.connection, _TAKEN)
    return [] if taken is None else [claimed(claim.queue, row) for row in from_json(taken)]


def _call(connection: apsw.Connection, procedure: str, arguments: tuple[Any, ...]) -> None:
    try:
        connection.execute(procedure, arguments)
    except apsw.SQLError as error:
        if "no such table: temp." not in str(error):
            raise
        connection.execute(PROCEDURES)  # the first time, or whatever made them was rolled back
        connection.execute(procedure, arguments)


def _one(connection: apsw.Connection, statement: str, values: tuple[Any, ...] = ()) -> str | None:
    found: Any = connection.execute(statement, values).get
    return found  # type: ignore[no-any-return]

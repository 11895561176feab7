"""SQLite's hot path: claims and plain successes, each as one statement.

The interpreter's lock is free while a statement runs and is fought over between two of them. So what a claim or a settle
does is in `procedures.sql`, and Python calls it and reads one row of answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from importlib.resources import files
from typing import Any, NamedTuple, TypeVar

import apsw
from pydantic_core import from_json, to_json

from towpath.core.records import PRIORITIES
from towpath.core.transitions import Transition
from towpath.store import ledger
from towpath.store.columns import filled, fragments
from towpath.store.contract import UNDECIDED, Claim, ClaimedBatch
from towpath.store.sql import engine_queries
from towpath.store.sqlite.tx import SqliteTx

T = TypeVar("T")
Alone = Callable[[apsw.Connection, float], T]  # what a connection does by itself, at a time


def _procedures() -> str:
    text, band = (files("towpath.store.sqlite") / "procedures.sql").read_text("utf-8").split("\n-- band:\n")
    bands = "UNION ALL ".join(band.replace("{band}", str(priority)) for priority in PRIORITIES)
    return filled(text, _KNOWN | {"bands": bands})


_KNOWN = fragments("sqlite") | engine_queries("sqlite").fragments
PROCEDURES = _procedures()
_READY = filled("SELECT 1 FROM towpath_job WHERE queue = ? AND {claimable} LIMIT 1", _KNOWN)
_SETTLE = "INSERT INTO temp.towpath_settle (asked, now) VALUES (?, ?)"
_REQUEST = "queue, room, worker_id, until, now, cursor_0, cursor_1, cursor_2, cursor_3"
_CLAIM = f"INSERT INTO temp.towpath_claim ({_REQUEST}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_TURN = f"INSERT INTO temp.towpath_turn (asked, {_REQUEST}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
# Which of the asked have ended, if not all of them have; and what was claimed.
_ENDED = "SELECT CASE WHEN count(*) < ? THEN json_group_array(id) END AS ended FROM temp.towpath_ended"
_TAKEN = "SELECT count(*) AS jobs, '[' || group_concat(taken) || ']' AS rows FROM temp.towpath_begun"
_BOTH = f"SELECT ({_ENDED}) AS ended, jobs, rows FROM ({_TAKEN})"


class _Taken(NamedTuple):
    """A row of `_TAKEN`: how many jobs were claimed, and JSON of them."""

    jobs: int
    rows: str


class _Both(NamedTuple):
    """A row of `_BOTH`: JSON of the ids that have ended, or None if all of them have; then as above."""

    ended: str | None
    jobs: int
    rows: str


def has_ready(queue: str) -> Callable[[apsw.Connection], bool]:
    """A look without a transaction, so that an idle worker never takes the write lock."""
    return lambda connection: bool(connection.execute(_READY, (queue,)).fetchall())


def claim(claim: Claim) -> Callable[[SqliteTx], Awaitable[ClaimedBatch]]:
    async def unit(tx: SqliteTx) -> ClaimedBatch:
        return await _take(tx, claim)

    return unit


def turn(
    transitions: Sequence[Transition], claim: Claim
) -> Callable[[SqliteTx], Awaitable[tuple[list[str | None], ClaimedBatch]]]:
    """Settles and a claim, in a transaction that others may share."""

    async def unit(tx: SqliteTx) -> tuple[list[str | None], ClaimedBatch]:
        return await settle(tx, transitions), await _take(tx, claim)

    return unit


def turn_alone(transitions: Sequence[Transition], claim: Claim) -> Alone[tuple[list[str | None], ClaimedBatch]] | None:
    """Both as one statement that is a transaction of its own, if all are plain successes. So the disk is written, too,
    while the event loop goes on. What it left alone is `UNDECIDED`, and it takes nothing from a queue with a cap."""
    if len(ledger.short_way(transitions)) < len(transitions):
        return None
    asked = _asked(transitions)

    def call(connection: apsw.Connection, now: float) -> tuple[list[str | None], ClaimedBatch]:
        _call(connection, _TURN, (asked, *_request(claim, claim.limit, now)))
        [row] = connection.execute(_BOTH, (len(transitions),)).fetchall()
        answer = _Both._make(row)
        taken = ClaimedBatch(claim.queue, answer.rows, answer.jobs)
        if answer.ended is None:
            return [None] * len(transitions), taken
        done = _among(transitions, answer.ended)
        return [None if index in done else UNDECIDED for index in range(len(transitions))], taken

    return call


async def settle(tx: SqliteTx, transitions: Sequence[Transition]) -> list[str | None]:
    """Plain successes by one guarded statement; everything else, and what that one left alone, by the ledger."""
    done: Collection[int] = ledger.short_way(transitions)
    if done:
        plain = [transitions[index] for index in done]
        _call(tx.connection, _SETTLE, (_asked(plain), tx.now.timestamp()))
        ended: Any = tx.connection.execute(_ENDED, (len(plain),)).get
        if ended is not None:
            done = _among(transitions, ended)
    return await _settle_rest(tx, transitions, done)


async def _settle_rest(tx: SqliteTx, transitions: Sequence[Transition], done: Collection[int]) -> list[str | None]:
    """By the ledger, which also says why a fence held."""
    verdicts: list[str | None] = [None] * len(transitions)
    if len(done) < len(transitions):
        rest = sorted(set(range(len(transitions))).difference(done))
        for index, verdict in zip(rest, await ledger.apply(tx, [transitions[i] for i in rest]), strict=True):
            verdicts[index] = verdict
    return verdicts


async def _take(tx: SqliteTx, claim: Claim) -> ClaimedBatch:
    room = await ledger.queue_room(tx, claim.queue, claim.limit)
    if room <= 0:
        return ClaimedBatch(claim.queue)
    _call(tx.connection, _CLAIM, _request(claim, room, tx.now.timestamp()))
    [row] = tx.connection.execute(_TAKEN).fetchall()
    answer = _Taken._make(row)
    return ClaimedBatch(claim.queue, answer.rows, answer.jobs)


def _asked(plain: Sequence[Transition]) -> str:
    return to_json([(t.job_id, t.attempt, t.result_json) for t in plain]).decode()


def _among(transitions: Sequence[Transition], ids: Any) -> set[int]:
    """Where the first word about each of these jobs is."""
    wanted = set(from_json(ids))
    return {index for index in ledger.short_way(transitions) if transitions[index].job_id in wanted}


def _request(claim: Claim, room: int, now: float) -> tuple[Any, ...]:
    """Without `claim.after`: nothing that was claimed is left in the index to be skipped."""
    cursors = (claim.cursors.get(band) for band in PRIORITIES)  # a band without one gives nothing
    return (claim.queue, room, claim.worker_id, now + claim.lease_seconds, now, *cursors)


def _call(connection: apsw.Connection, procedure: str, arguments: tuple[Any, ...]) -> None:
    try:
        connection.execute(procedure, arguments)
    except apsw.SQLError as error:
        if "no such table: temp." not in str(error):
            raise
        connection.execute(PROCEDURES)  # the first time, or whatever made them was rolled back
        connection.execute(procedure, arguments)

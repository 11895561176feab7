"""SQLite's hot path: claims and plain successes, each as one statement.

The interpreter's lock is free while a statement runs and is fought over between two of them. So what a claim or a settle
does is in `procedures.sql`, and Python calls it and reads one row of answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from importlib.resources import files
from typing import Any, TypeVar

import apsw
from pydantic_core import from_json, to_json

from towpath.core.records import PRIORITIES
from towpath.core.transitions import Transition
from towpath.store import ledger
from towpath.store.columns import filled, fragments
from towpath.store.contract import UNDECIDED, Claim, ClaimedBatch
from towpath.store.sql import Queries
from towpath.store.sqlite.tx import SqliteTx

T = TypeVar("T")

CommitsItself = Callable[[apsw.Connection, float], T]
"""Called with a connection that is in no transaction, and the time: it runs a statement that is a transaction by itself."""


def _read(name: str) -> str:
    return (files("towpath.store.sqlite") / name).read_text("utf-8")


def _procedures() -> str:
    text, band = _read("procedures.sql").split("\n-- band:\n")
    bands = "UNION ALL ".join(band.replace("{band}", str(priority)) for priority in PRIORITIES)
    # A claim reads the rows before it writes them.
    own = fragments("sqlite")
    own["claimed"] = own["claimed"].replace(" attempt,", " attempt + 1,")
    return filled(text, own | {"bands": bands})


def _calls() -> Queries:
    calls = Queries("sqlite")
    calls.add(_read("calls.sql"), own=True)
    return calls


PROCEDURES, _CALLS = _procedures(), _calls()
_HAS_READY, _SETTLE, _CLAIM, _TURN = (_CALLS[name].text for name in ("has_ready", "settle", "claim", "turn"))
_ENDED, _CLAIMED, _ENDED_AND_CLAIMED = (_CALLS[name].text for name in ("ended", "claimed", "ended_and_claimed"))


def has_ready(queue: str) -> Callable[[apsw.Connection], bool]:
    """A look without a transaction, so that an idle worker never takes the write lock."""
    return lambda connection: bool(connection.execute(_HAS_READY, (queue,)).fetchall())


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


def turn_alone(
    transitions: Sequence[Transition], claim: Claim
) -> CommitsItself[tuple[list[str | None], ClaimedBatch]] | None:
    """Both as one statement that is a transaction of its own, if all are plain successes. So the disk is written, too,
    while the event loop goes on. What it left alone is `UNDECIDED`, and it takes nothing from a queue with a cap."""
    if len(ledger.short_way(transitions)) < len(transitions):
        return None
    asked = _asked(transitions)

    def call(connection: apsw.Connection, now: float) -> tuple[list[str | None], ClaimedBatch]:
        _call(connection, _TURN, (asked, *_request(claim, claim.limit, now)))
        answer: Any = connection.execute(_ENDED_AND_CLAIMED, (len(transitions),)).fetchall()[0]
        fewer, count, rows = answer
        batch = ClaimedBatch(claim.queue, rows, count)
        if fewer is None:
            return [None] * len(transitions), batch
        done = _among(transitions, fewer)
        return [None if index in done else UNDECIDED for index in range(len(transitions))], batch

    return call


async def settle(tx: SqliteTx, transitions: Sequence[Transition]) -> list[str | None]:
    """Plain successes by one guarded statement; everything else, and what that one left alone, by the ledger."""
    done: Collection[int] = ledger.short_way(transitions)
    if done:
        plain = [transitions[index] for index in done]
        _call(tx.connection, _SETTLE, (_asked(plain), tx.now.timestamp()))
        fewer: Any = tx.connection.execute(_ENDED, (len(plain),)).get
        if fewer is not None:
            done = _among(transitions, fewer)
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
    answer: Any = tx.connection.execute(_CLAIMED).fetchall()[0]
    count, rows = answer
    return ClaimedBatch(claim.queue, rows, count)


def _asked(plain: Sequence[Transition]) -> str:
    return to_json([(t.job_id, t.attempt, t.result_json) for t in plain]).decode()


def _among(transitions: Sequence[Transition], ids: Any) -> set[int]:
    """The places of the transitions that ended these jobs: of several about one job it was the first."""
    wanted = set(from_json(ids))
    return {index for index in ledger.short_way(transitions) if transitions[index].job_id in wanted}


def _request(claim: Claim, room: int, now: float) -> tuple[Any, ...]:
    """Without `claim.after`: SQLite takes a claimed job out of its index at once, so there is nothing to skip."""
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

"""Many rows per statement. A statement that inserts fifty rows runs without the interpreter between them, and without its
lock, so the event loop goes on meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import apsw

from towpath.store.columns import STRAIGHT
from towpath.store.sql import Queries

_SIZES = (50, 10, 1)
_MOST_LISTED = 1000

_OWNED = "INSERT INTO towpath_owned (tenant, id) SELECT ?, column1 FROM (VALUES {})"
_COMMON = (*STRAIGHT, "gate", "ready", "parked", "reason", "created_at")
_JOBS = (
    f"INSERT INTO towpath_job (id, root_id, pass, payload, {', '.join(_COMMON)}) "
    f"SELECT column1, coalesce(?, column1), column2, column3, {', '.join('?' * len(_COMMON))} "
    "FROM (VALUES {}) WHERE true ON CONFLICT DO NOTHING"
)


def insert_alike(
    connection: apsw.Connection,
    queries: Queries,
    common: tuple[Any, ...],
    rows: Sequence[tuple[str, float, str]],
    *,
    tenant: str,
    now: float,
) -> bool:
    """Jobs that differ in their id, pass and payload, whose they are, and the event that tells of them. Whether they are
    new: all of them are, or none, if this is the same insert again after an unknown commit."""
    if _insert(connection, _JOBS, common, list(chain.from_iterable(rows)), 3) != len(rows):
        return False
    ids = [row[0] for row in rows]
    _insert(connection, _OWNED, (tenant,), ids, 1)
    list_events(connection, queries, 1, ids, now)
    return True


def list_events(connection: apsw.Connection, queries: Queries, seq: int, ids: Sequence[str], now: float) -> None:
    """For streams: each of these jobs got its event of that number. In batches that a reader can take in one by one."""
    for start in range(0, len(ids), _MOST_LISTED):
        listed = '","'.join(ids[start : start + _MOST_LISTED])
        connection.execute(queries["insert_event_batch"].text, {"now": now, "seq": seq, "jobs": f'["{listed}"]'})


def _insert(connection: apsw.Connection, statement: str, common: tuple[Any, ...], values: list[Any], width: int) -> int:
    """Rows of that width, one after the other."""
    inserted = 0
    for start, size in _parts(len(values) // width):
        part = values[start * width : (start + size) * width]
        connection.execute(_text(statement, width, size), (*common, *part))
        inserted += connection.changes()
    return inserted


def _parts(count: int) -> Iterator[tuple[int, int]]:
    """Where each begins and how many rows it has; in few sizes, so that every statement is prepared once."""
    start = 0
    while start < count:
        size = next(size for size in _SIZES if size <= count - start)
        yield start, size
        start += size


@lru_cache(maxsize=64)
def _text(statement: str, width: int, count: int) -> str:
    row = f"({', '.join('?' * width)})"
    return statement.format(", ".join([row] * count))

"""Many rows per statement. A statement that inserts fifty rows runs without the interpreter between them, and without its
lock, so the event loop goes on meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import apsw

from towpath.store.sql import Queries

_SIZES = (50, 10, 1)
_MOST_LISTED = 1000


def list_events(connection: apsw.Connection, queries: Queries, seq: int, ids: Sequence[str], now: float) -> None:
    """For streams: each of these jobs got its event of that number. In batches that a reader can take in one by one."""
    for start in range(0, len(ids), _MOST_LISTED):
        listed = '","'.join(ids[start : start + _MOST_LISTED])
        connection.execute(queries["insert_event_batch"].text, {"now": now, "seq": seq, "jobs": f'["{listed}"]'})


def insert(connection: apsw.Connection, statement: str, common: tuple[Any, ...], values: list[Any], width: int) -> None:
    """Rows of that width, whose values come one after the other."""
    for start, size in _parts(len(values) // width):
        part = values[start * width : (start + size) * width]
        connection.execute(_text(statement, width, size), (*common, *part))


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

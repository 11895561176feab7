"""Lease renewal on a connection of its own, so that a busy writer or a blocked event loop cannot starve it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import apsw

from towpath.core.records import WorkerRow
from towpath.store.columns import filled, fragments
from towpath.store.contract import Beat, sign_of_life
from towpath.store.sql import Queries
from towpath.store.sqlite.connection import connect
from towpath.store.sqlite.turnstile import Turnstile

_RENEW = filled(
    "UPDATE towpath_job SET lease_until = ? "
    "WHERE id = ? AND attempt = ? AND state IN ({after_claim}) AND worker_id = ? AND leased",
    fragments("sqlite"),
)


class SqliteHeart:
    def __init__(self, path: Path, queries: Queries, clock: Callable[[], float]) -> None:
        self._path, self._queries, self._clock = path, queries, clock
        self._connection: apsw.Connection | None = None
        self._turnstile = Turnstile(path)

    def beat(self, worker: WorkerRow, leases: Sequence[tuple[str, int]], lease_seconds: float) -> Beat:
        if self._connection is None:
            self._connection = connect(self._path)
        connection, beat = self._connection, Beat()
        with self._turnstile.turn(), connection:
            now = self._clock()
            beat.now = datetime.fromtimestamp(now, UTC)
            for job_id, attempt in leases:
                connection.execute(_RENEW, (now + lease_seconds, job_id, attempt, worker.id))
                if connection.changes() == 0:
                    rows = connection.execute("SELECT state FROM towpath_job WHERE id = ?", (job_id,)).fetchall()
                    beat.lost[job_id] = str(rows[0][0]) if rows else "gone"
            connection.execute(self._queries["put_worker"].text, sign_of_life(worker, now, now + lease_seconds))
        return beat

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._turnstile.close()

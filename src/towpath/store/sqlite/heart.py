"""Lease renewal on a connection of its own, so that a busy writer or a blocked event loop cannot starve it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from towpath.core.encoding import encode
from towpath.core.records import WorkerRow
from towpath.store.contract import Renewed, sign_of_life
from towpath.store.sql import Queries
from towpath.store.sqlite.connection import connect
from towpath.store.sqlite.turnstile import Turnstile


class SqliteHeart:
    def __init__(self, path: Path, queries: Queries, clock: Callable[[], float]) -> None:
        self._path, self._queries, self._clock = path, queries, clock
        self._connection: apsw.Connection | None = None
        self._turnstile = Turnstile(path)

    def beat(self, worker: WorkerRow, leases: Sequence[tuple[str, int]], lease_seconds: float) -> Renewed:
        if self._connection is None:
            self._connection = connect(self._path)
        connection, beat = self._connection, Renewed()
        with self._turnstile.turn(), connection:
            now = self._clock()
            beat.now = datetime.fromtimestamp(now, UTC)
            lost = [lease for lease in leases if not self._renew(connection, worker.id, lease, now + lease_seconds)]
            if lost:
                ids = [job_id for job_id, _ in lost]
                states: Any = connection.execute(self._queries["states"].text, {"ids": encode(ids)})
                known = dict(states)
                beat.lost = {job_id: known.get(job_id, "gone") for job_id in ids}
            connection.execute(self._queries["put_worker"].text, sign_of_life(worker, now, now + lease_seconds))
        return beat

    def _renew(self, connection: apsw.Connection, worker_id: str, lease: tuple[str, int], until: float) -> bool:
        job_id, attempt = lease
        values = {"id": job_id, "attempt": attempt, "worker_id": worker_id, "until": until}
        connection.execute(self._queries["renew"].text, values)
        return connection.changes() > 0

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._turnstile.close()

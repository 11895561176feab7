"""Lease renewal on a connection and an event loop of its own, so that a blocked loop or a full pool cannot starve it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from towpath.core.records import WorkerRow
from towpath.store.contract import Renewed, sign_of_life
from towpath.store.postgres.connecting import connect, unavailable
from towpath.store.sql import Queries


class PostgresHeart:
    def __init__(self, url: str, queries: Queries) -> None:
        self._url, self._queries = url, queries
        self._runner: asyncio.Runner | None = None
        self._connection: Any = None

    def beat(self, worker: WorkerRow, leases: Sequence[tuple[str, int]], lease_seconds: float) -> Renewed:
        self._runner = self._runner or asyncio.Runner()
        try:
            return self._runner.run(asyncio.wait_for(self._beat(worker, leases, lease_seconds), 10))
        except Exception as error:
            self._hang_up()
            raise unavailable(error) from error

    async def _beat(self, worker: WorkerRow, leases: Sequence[tuple[str, int]], lease_seconds: float) -> Renewed:
        if self._connection is None or self._connection.is_closed():
            self._connection = await connect(self._url)
        beat = Renewed()
        if leases:
            ids = [job_id for job_id, _ in leases]
            attempts = [attempt for _, attempt in leases]
            rows = await self._connection.fetch(*self._call("renew", lease_seconds, ids, attempts, worker.id))
            lost = set(ids) - {str(row["id"]) for row in rows}
            if lost:
                states = await self._connection.fetch(self._queries["states"].text, sorted(lost))
                known = {str(row["id"]): row["state"] for row in states}
                beat.lost = {job_id: known.get(job_id, "gone") for job_id in lost}
        now = beat.now = await self._connection.fetchval(self._queries["now"].text)
        values = sign_of_life(worker, now, now + timedelta(seconds=lease_seconds))
        put = self._queries["put_worker"]
        await self._connection.execute(put.text, *(values[name] for name in put.names))
        return beat

    def _call(self, name: str, lease: float, ids: list[str], attempts: list[int], worker_id: str) -> list[Any]:
        query = self._queries[name]
        values = {"lease": lease, "ids": ids, "attempts": attempts, "worker_id": worker_id}
        return [query.text, *(values[key] for key in query.names)]

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    def close(self) -> None:
        self._hang_up()
        if self._runner is not None:
            self._runner.close()
            self._runner = None

"""The caller's own transaction: their rows and our jobs commit together or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from towpath.engine.services import Services
from towpath.engine.tracing import current_trace, enqueueing
from towpath.engine.values import blob_prefix
from towpath.store.contract import Row, Tx


class Transaction:
    """`execute` and `fetch` speak the database's own SQL: `$1` on PostgreSQL, `?` on SQLite."""

    def __init__(self, tx: Tx, services: Services) -> None:
        self._tx = tx
        self._services = services

    async def execute(self, sql: str, *params: Any) -> int:
        """Runs a statement; answers how many rows it changed."""
        return await self._tx.execute_sql(sql, *params)

    async def fetch(self, sql: str, *params: Any) -> Sequence[Row]:
        return await self._tx.fetch_sql(sql, *params)

    async def query(self, name: str, /, **params: Any) -> Sequence[Row]:
        """Runs a named query of a slice."""
        return await self._tx.fetch(name, **params)

    async def enqueue(self, operation: str, payload: Any = None, **options: Any) -> str:
        """Adds a job that exists if and only if this transaction commits; answers its id."""
        with enqueueing([operation]):
            options.setdefault("trace", current_trace())
            return await self._enqueue(operation, payload, options)

    async def _enqueue(self, operation: str, payload: Any, options: dict[str, Any]) -> str:
        job = self._services.new_job(operation, payload, **options)
        placed = not self._services.values.small(job.payload_json)
        if placed:  # if the transaction is rolled back, the blob is swept
            await self._services.place_payload(job)
        [made] = await self._tx.insert_jobs([job])
        if placed and made.id != job.id:
            await self._services.blobs.delete_prefix(blob_prefix(job.id))
        return made.id

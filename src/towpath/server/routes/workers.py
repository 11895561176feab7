"""Worker processes, the newest first."""

from __future__ import annotations

from datetime import datetime

from towpath.core.encoding import decode
from towpath.engine.asking import liveness
from towpath.http.policy import Reader
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.server.counts import at_most_once_a_second
from towpath.server.schemas.workers import Worker
from towpath.store.contract import Row, Tx

router = Router(prefix="/api/workers", tags=["workers"])

_MOST = 500


@router.get("", operation_id="list_workers")
async def list_workers(_principal: Reader, app: Engine) -> list[Worker]:
    """Workers of the last day, the newest first. One that has been silent for longer than its leases last is not alive."""

    async def unit(tx: Tx) -> list[Worker]:
        held = {row["worker_id"]: row["jobs"] for row in await tx.fetch("leased_workers")}
        return [_shown(row, held.get(row["id"], 0), tx.now) for row in await tx.fetch("recent_workers", limit=_MOST)]

    return await at_most_once_a_second(app, "workers", lambda: app.services.store.read(unit))


def _shown(row: Row, held: int, now: datetime) -> Worker:
    """`held` is how many jobs it has a lease on now: what it said itself is as old as its last heartbeat."""
    alive = liveness.alive(row, now)
    running = min(held, row["concurrency"]) if alive else 0
    return Worker(
        id=row["id"],
        name=row["name"],
        queues=decode(row["queues"]),
        operations=decode(row["operations"]),
        concurrency=row["concurrency"],
        running=running,
        claimed=held - running if alive else 0,
        version=row["version"],
        started_at=row["started_at"],
        seen_at=row["seen_at"],
        stopped_at=row["stopped_at"],
        alive=alive,
        busy=round(running / row["concurrency"], 4) if row["concurrency"] else 0.0,
    )

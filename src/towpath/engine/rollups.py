"""Compacts what the transactions have tallied into counts per minute and depths per queue."""

from __future__ import annotations

from towpath.store.contract import Store, Tx

_FLOWS = ("created", "started", "succeeded", "partial", "failed", "cancelled", "retried", "wait_seconds", "run_seconds")


async def roll_up(store: Store) -> int:
    """Any number of processes may do this at once: each tally row is taken by exactly one of them."""
    if not await store.read(lambda tx: tx.fetch("any_tally")):
        return 0
    return await store.run(_compact)


async def _compact(tx: Tx) -> int:
    rows = await tx.fetch("take_tally")
    if tx.dialect == "sqlite":
        await tx.execute("clear_tally")
    depths: dict[str, dict[str, int]] = {}
    for row in rows:
        flows = {name: row[name] for name in _FLOWS}
        if any(flows.values()):
            await tx.execute("add_rollup", queue=row["queue"], operation=row["operation"], minute=row["minute"], **flows)
        depth = depths.setdefault(row["queue"], {"queued": 0, "running": 0, "waiting": 0})
        for name in depth:
            depth[name] += row[name]
    for queue, depth in sorted(depths.items()):
        await tx.execute("add_depth", queue=queue, **depth)
    return len(rows)

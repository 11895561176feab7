"""Rate budgets: one 429 slows every worker that shares the budget.

A budget is a row that is written only when somebody was refused, and read with a cache of a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

from towpath.core.encoding import plain
from towpath.store.contract import Store, Tx

_CACHE_SECONDS = 1.0
_NEVER = float("-inf")


class Budgets:
    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._clock = store, clock
        self._blocked: dict[str, float] = {}  # name -> instant on our clock until which it is blocked
        self._read_at = float("-inf")

    async def block(self, name: str, seconds: float, reason: str) -> None:
        name = plain(name)

        async def unit(tx: Tx) -> None:
            until = tx.now + timedelta(seconds=seconds)
            await tx.execute("block_budget", name=name, until=until, reason=reason[:500])

        self._blocked[name] = max(self._blocked.get(name, _NEVER), self._clock() + seconds)
        await self._store.run(unit)

    async def wait_seconds(self, name: str) -> float:
        """How long this budget is still blocked; zero if it is open."""
        now = self._clock()
        if now - self._read_at > _CACHE_SECONDS:
            await self._read()
        return max(0.0, self._blocked.get(name, _NEVER) - now)

    async def _read(self) -> None:
        async def unit(tx: Tx) -> dict[str, float]:
            rows = await tx.fetch("blocked_budgets", now=tx.now)
            return {row["name"]: (row["blocked_until"] - tx.now).total_seconds() for row in rows}

        left = await self._store.read(unit)
        now = self._read_at = self._clock()
        self._blocked = {name: now + seconds for name, seconds in left.items()}

"""The lists of leases that a worker has written, one per claim, until they have served."""

from __future__ import annotations

from towpath.core.transitions import Transition
from towpath.store.contract import Store, Tx


class Grip:
    """What is left of one claim."""

    __slots__ = ("jobs", "lease_id", "plain")

    def __init__(self, lease_id: str, jobs: int) -> None:
        self.lease_id, self.jobs = lease_id, jobs
        self.plain = True  # nothing but successes so far, which leave nothing leased


class Spent:
    """Claims of which every job has been settled. What is missed here the janitor finds."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._grips: list[Grip] = []

    def settled(self, grip: Grip, transition: Transition) -> None:
        """One more job of that claim."""
        grip.jobs -= 1
        grip.plain &= transition.verb == "succeed"
        if grip.jobs == 0:
            self._grips.append(grip)

    async def forget(self) -> None:
        """They are no longer listed."""
        if not self._grips:
            return
        grips, self._grips = self._grips, []
        plain = [grip.lease_id for grip in grips if grip.plain]
        rest = [grip.lease_id for grip in grips if not grip.plain]

        async def unit(tx: Tx) -> None:
            if plain:
                await tx.execute("drop_leases", ids=plain)
            if rest:  # looks at every job on them once more
                await tx.execute("forget_leases", ids=rest)

        await self._store.run(unit)

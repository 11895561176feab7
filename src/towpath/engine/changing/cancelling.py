"""Cancelling, and what it came to: which jobs it reached, and what they were doing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from towpath.core import transitions
from towpath.core.lifecycle import State
from towpath.store import ledger
from towpath.store.contract import Store, Tx


@dataclass(slots=True)
class Cancelled:
    """`was` is each asked job's state before, as far as it exists; `ids` are all that were cancelled, children included."""

    was: dict[str, str] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)

    @property
    def reached(self) -> list[str]:
        """Those of the asked jobs that were cancelled: one that had ended by then was not."""
        ended = set(self.ids)
        return [job_id for job_id in self.was if job_id in ended]


async def cancel(store: Store, job_ids: Sequence[str], reason: str | None = None) -> Cancelled:
    """Cancels several jobs and their children in one transaction; those that have ended stay as they are."""
    return await store.run(partial(cancel_in, job_ids=job_ids, reason=reason))


async def cancel_in(tx: Tx, job_ids: Sequence[str], reason: str | None) -> Cancelled:
    """As a part of somebody else's transaction."""
    _, working = await ledger.carry_out(tx, [transitions.cancel(job_id, reason) for job_id in job_ids])
    done = Cancelled()
    states = {before.id: before.state for before, _, changed in working.changes() if "state" in changed}
    for job_id in job_ids:
        if job_id in working.jobs:
            done.was[job_id] = states.get(job_id, working.jobs[job_id].state).value
    done.ids = sorted(job_id for job_id in states if working.jobs[job_id].state is State.CANCELLED)
    return done

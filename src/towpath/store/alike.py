"""Jobs that differ in nothing but their ids and payloads. Most bulk is like that, and goes in by a shorter way."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from towpath.core.records import NewJob
from towpath.store.columns import STRAIGHT


def alike(jobs: Sequence[NewJob]) -> bool:
    """Whether they differ in nothing but their ids and payloads, and become ready, or wait for their lane, right away."""
    first = jobs[0]
    if _plan(first) != (None, None, None):
        return False
    if first.mould is not None and first.parent_id is None and all(job.mould is first.mould for job in jobs):
        return True
    return len({_sort_of(job) for job in jobs}) == 1


_sort_of = attrgetter(*STRAIGHT, "run_at", "delay", "key", "root_id")
_plan = attrgetter("run_at", "delay", "key")

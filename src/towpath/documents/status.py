"""How runs and items stand, told from their jobs: one table for each, and nothing is stored that could say otherwise.

An item's step is the last one of those that are on record; the steps form no line, so it is the furthest in the order of the
pipeline of which all before it are done or run beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from towpath import State
from towpath.documents.names import DONE, ENQUEUED, FAILED

PENDING, RUNNING, COMPLETED, PARTIAL, CANCELLED = "PENDING", "RUNNING", "COMPLETED", "PARTIAL", "CANCELLED"
STATUSES = (PENDING, RUNNING, COMPLETED, PARTIAL, FAILED, CANCELLED)

RUN_TABLE: dict[State, str] = {
    State.QUEUED:    PENDING,
    State.RUNNING:   RUNNING,
    State.WAITING:   RUNNING,
    State.SUCCEEDED: COMPLETED,
    State.PARTIAL:   PARTIAL,
    State.FAILED:    FAILED,
    State.CANCELLED: CANCELLED,
}  # fmt: skip

ITEM_TABLE: dict[State, str] = RUN_TABLE | {State.PARTIAL: COMPLETED}


def states_of(statuses: Collection[str]) -> list[str]:
    """The states of jobs whose items have one of these statuses."""
    return [state.value for state, status in ITEM_TABLE.items() if status in statuses]


def step_of(status: str, done: Collection[str], order: Sequence[str]) -> str:
    """Where an item is: the furthest step on record, or DONE or FAILED."""
    if status == COMPLETED:
        return DONE
    if status == FAILED:
        return FAILED
    return next((name for name in reversed(order) if name in done), ENQUEUED)

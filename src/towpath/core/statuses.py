"""The status of a job, as the API and the command say it: fewer words than it has states.

Inside there is one vocabulary, `State`. Outside a job is queued, running or over: one that waits for children, a signal or a
timer, with no worker at it, is running as well.
"""

from __future__ import annotations

from collections.abc import Iterable

from towpath.core.lifecycle import State

STATUS: dict[State, str] = {
    State.QUEUED: "QUEUED",
    State.RUNNING: "RUNNING",
    State.WAITING: "RUNNING",
    State.SUCCEEDED: "SUCCEEDED",
    State.PARTIAL: "PARTIAL",
    State.FAILED: "FAILED",
    State.CANCELLED: "CANCELLED",
}


def status_of(state: State) -> str:
    return STATUS[state]


def states_of(statuses: Iterable[str]) -> list[State]:
    """Every state that goes by one of these statuses."""
    wanted = set(statuses)
    return [state for state, status in STATUS.items() if status in wanted]

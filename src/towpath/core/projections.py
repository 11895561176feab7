"""The states of a job in other people's words, and names as people write them.

Inside there is one vocabulary, `State`. Whoever knows jobs that are queued, running and then over, with nothing in between,
gets them so: a job that nobody holds, because children, a signal or a timer will move it on, is under way for them.
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


def folded(name: str) -> str:
    """`In-Progress`, `in_progress` and `IN PROGRESS` are one name."""
    return name.strip().casefold().replace("-", "_").replace(" ", "_")


def spelt(name: str, names: Iterable[str]) -> str:
    """The one of `names` that is meant, however it is written; what is none of them stays as it is."""
    return next((one for one in names if folded(one) == folded(name)), name)

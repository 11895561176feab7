"""Successes that were sent and not answered: the commit may have happened, and then they are refused when sent again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from towpath.core.lifecycle import State
from towpath.core.transitions import Transition


class Unsure:
    def __init__(self) -> None:
        self._sent: set[tuple[str, int | None]] = set()

    @contextmanager
    def sending(self, transitions: Sequence[Transition]) -> Iterator[None]:
        """Remembers them if no answer comes, until `answered` says that one has."""
        try:
            yield
        except BaseException:
            self._sent.update((transition.job_id, transition.attempt) for transition in transitions)
            raise

    def answered(self, transitions: Sequence[Transition]) -> None:
        if self._sent:
            self._sent.difference_update((transition.job_id, transition.attempt) for transition in transitions)

    def among(self, transitions: Sequence[Transition]) -> list[Transition]:
        return [one for one in transitions if (one.job_id, one.attempt) in self._sent] if self._sent else []


async def ours(tx: Any, transitions: Sequence[Transition]) -> set[str]:
    """Jobs that have succeeded with this very attempt. Nobody else has it, so it was our commit that came through."""
    attempts = {transition.job_id: transition.attempt for transition in transitions}
    jobs = await tx.jobs("jobs_by_id", ids=sorted(attempts))
    return {job.id for job in jobs if job.state is State.SUCCEEDED and job.attempt == attempts[job.id]}

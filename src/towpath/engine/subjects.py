"""Jobs by what they work on. A product asks for its things and is told of the jobs; it keeps no list of them itself.

A subject is a kind and an id, given with `enqueue(…, subject=("recording", id))`; jobs that a job makes inherit its subject.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from towpath.core import transitions
from towpath.core.errors import NotRequeueable
from towpath.core.lifecycle import State
from towpath.core.prospects import Prospect
from towpath.core.records import Job
from towpath.engine.asking.prospects import prospects
from towpath.engine.changing import cancelling, deleting, signalling
from towpath.engine.changing.cancelling import Cancelled
from towpath.engine.changing.deleting import Removed
from towpath.engine.registry import check_name
from towpath.engine.services import Services
from towpath.store import ledger
from towpath.store.contract import Tx


async def jobs_of(tx: Tx, kind: str, ids: Iterable[str]) -> dict[str, list[Job]]:
    """The root jobs of each, oldest first; their children are found by `app.list(parent=…)`."""
    asked = list(dict.fromkeys(ids))
    found: dict[str, list[Job]] = {subject_id: [] for subject_id in asked}
    if asked:
        rows = await tx.jobs("jobs_of_subjects", kind=check_name("a subject's kind", kind), ids=asked)
        for job in sorted(rows, key=lambda job: job.id):
            assert job.subject_id is not None
            found[job.subject_id].append(job)
    return found


class Subjects:
    """`app.subjects`."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def jobs(self, kind: str, ids: Iterable[str]) -> dict[str, list[Job]]:
        """By id, each with its root jobs, oldest first; none is an empty list."""
        asked = list(ids)
        return await self._services.store.read(lambda tx: jobs_of(tx, kind, asked))

    async def prospects(self, kind: str, ids: Iterable[str]) -> dict[str, Prospect]:
        """By job id, of their root jobs that have not ended: the place in line, and when each will be done, or why
        nobody can say that."""
        return await prospects(self._services, check_name("a subject's kind", kind), list(ids))

    async def cancel(self, kind: str, subject_id: str, reason: str | None = None) -> Cancelled:
        """Everything that is done with it, children included. What has ended stays as it is."""
        live = [job.id for job in await self._of(kind, subject_id) if job.live]
        return await cancelling.cancel(self._services.store, live, reason) if live else Cancelled()

    async def requeue(self, kind: str, subject_id: str) -> Job:
        """Gives its newest job a fresh start, if that ended without full success. NotRequeueable says why otherwise."""
        jobs = await self._of(kind, subject_id)
        if refused := _no_requeue(jobs):
            raise NotRequeueable(f"{kind} {subject_id} was not requeued: {refused}")
        asked = transitions.requeue(jobs[-1].id)
        [refused] = await self._services.store.run(lambda tx: ledger.apply(tx, [asked]))
        if refused is not None:
            raise NotRequeueable(f"{kind} {subject_id} was not requeued: {refused}")
        return (await self._of(kind, subject_id))[-1]

    async def delete(self, kind: str, subject_id: str) -> Removed:
        """Removes its jobs with their history, whatever they are doing: what is live is cancelled first, and handlers get a
        few seconds to end. What could not go yet is in `refused`, with the reason."""
        return await deleting.remove(self._services, [job.id for job in await self._of(kind, subject_id)])

    async def _of(self, kind: str, subject_id: str) -> Sequence[Job]:
        return (await self.jobs(kind, [subject_id]))[subject_id]

    async def signal(self, kind: str, subject_id: str, name: str, payload: Any = None) -> list[str]:
        """Sends a signal to each of its jobs that has not ended; answers which those are. For whoever knows the thing and no
        job, such as a provider that calls back."""
        text = signalling.checked(self._services, name, payload)

        async def unit(tx: Tx) -> list[str]:
            jobs = (await jobs_of(tx, kind, [subject_id]))[subject_id]
            return await signalling.send_to_live(tx, [job.id for job in jobs if job.live], name, text)

        return await self._services.store.run(unit)


def _no_requeue(jobs: Sequence[Job]) -> str | None:
    """Why not, if not."""
    if not jobs:
        return "no job of it is left; enqueue a new one"
    if live := [job for job in jobs if job.live]:
        return f"job {live[0].id} is {live[0].state.value}; cancel it first, or wait for it"
    if jobs[-1].state is State.SUCCEEDED:
        return f"its newest job, {jobs[-1].id}, succeeded"
    return None

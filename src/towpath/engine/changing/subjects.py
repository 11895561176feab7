"""`app.subjects`: whatever is done with a thing, asked about, cancelled, requeued and deleted by its kind and id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from towpath.core.errors import NotRequeueable
from towpath.core.lifecycle import State
from towpath.core.prospects import Prospect
from towpath.core.records import Job
from towpath.engine.asking.prospects import prospects
from towpath.engine.changing import deleting, signalling
from towpath.engine.changing.cancelling import Cancelled, cancel_in
from towpath.engine.changing.deleting import Removed
from towpath.engine.changing.requeueing import requeue_in
from towpath.engine.registry import check_name
from towpath.engine.services import Services
from towpath.engine.subjects import jobs_of
from towpath.store.contract import Tx


class Subjects:
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

        async def unit(tx: Tx) -> Cancelled:
            done = Cancelled()
            # While the locks of some were waited for others may have come: look again until nothing is new.
            while live := [job.id for job in await _of(tx, kind, subject_id) if job.live]:
                some = await cancel_in(tx, live, reason)
                done = Cancelled(done.was | some.was, sorted({*done.ids, *some.ids}))
            return done

        return await self._services.store.run(unit)

    async def requeue(self, kind: str, subject_id: str) -> Job:
        """Gives its newest job a fresh start, if that ended without full success. NotRequeueable says why otherwise."""

        async def unit(tx: Tx) -> Job:
            jobs = await _of(tx, kind, subject_id)
            if refused := _no_requeue(jobs):
                raise NotRequeueable(f"{kind} {subject_id} was not requeued: {refused}")
            newest = jobs[-1].id
            refused = (await requeue_in(tx, [newest])).get(newest)
            # While its lock was waited for another may have come, and then that is the live one.
            jobs = await _of(tx, kind, subject_id)
            if refused := refused or _live([job for job in jobs if job.id != newest]):
                raise NotRequeueable(f"{kind} {subject_id} was not requeued: {refused}")
            return next(job for job in jobs if job.id == newest)

        return await self._services.store.run(unit)

    async def delete(self, kind: str, subject_id: str) -> Removed:
        """Removes its jobs with their history, whatever they are doing: what is live is cancelled first, and handlers get a
        few seconds to end. What could not go yet is in `refused`, with the reason."""
        jobs = await self._services.store.read(lambda tx: _of(tx, kind, subject_id))
        return await deleting.remove(self._services, [job.id for job in jobs])

    async def signal(self, kind: str, subject_id: str, name: str, payload: Any = None) -> list[str]:
        """Sends a signal to each of its jobs that has not ended; answers which those are. For whoever knows the thing and no
        job, such as a provider that calls back."""
        text = signalling.checked(self._services, name, payload)

        async def unit(tx: Tx) -> list[str]:
            live = [job.id for job in await _of(tx, kind, subject_id) if job.live]
            return await signalling.send_to_live(tx, live, name, text)

        return await self._services.store.run(unit)


async def _of(tx: Tx, kind: str, subject_id: str) -> Sequence[Job]:
    return (await jobs_of(tx, kind, [subject_id]))[subject_id]


def _no_requeue(jobs: Sequence[Job]) -> str | None:
    """Why not, if not."""
    if not jobs:
        return "no job of it is left; enqueue a new one"
    if jobs[-1].state is State.SUCCEEDED:
        return _live(jobs) or f"its newest job, {jobs[-1].id}, succeeded"
    return _live(jobs)


def _live(jobs: Sequence[Job]) -> str | None:
    live = next((job for job in jobs if job.live), None)
    return None if live is None else f"job {live.id} is {live.state.value}; cancel it first, or wait for it"

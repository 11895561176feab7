"""A queued job's priority, changed: it gets a place in its new band by the same rules as any job that comes there."""

from __future__ import annotations

from towpath.core.errors import NotRequeueable
from towpath.core.lifecycle import State
from towpath.core.records import Job
from towpath.core.working_set import NO_PLACE, WorkingSet
from towpath.engine.asking.reading import no_job
from towpath.store import ledger
from towpath.store.contract import Store, Tx


async def reprioritize(store: Store, job_id: str, priority: int) -> Job:
    """The job as it is then. NotRequeueable if it is no longer queued: what has begun cannot begin earlier."""

    async def unit(tx: Tx) -> Job:
        job = await ledger.lock_one(tx, job_id)
        if job is None:
            raise no_job(job_id)
        if job.state is not State.QUEUED:
            raise NotRequeueable(f"job {job_id} is {job.state.value}; only a queued job's priority can be changed")
        if job.priority != priority:
            working = WorkingSet([job], tx.now)
            _place(working, job, priority)
            await ledger.write(tx, working)
        return job

    return await store.run(unit)


def _place(working: WorkingSet, job: Job, priority: int) -> None:
    """Each band has a clock of its own, so the place it had says nothing in the new one.

    One that is ready gets its new place now. The others get one when their time or their turn comes: at the end of
    their lane, or at the front if they had begun, as ever.
    """
    working.note(job, "job.reprioritized", fields={"priority": priority, "was": job.priority})
    job.priority = priority
    if job.ready:
        working.stamps[job.id] = True
        return
    job.pass_ = NO_PLACE
    if job.parked:
        working.gates.add((job.queue, job.lane))

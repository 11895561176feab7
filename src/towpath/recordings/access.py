"""What the routes share: the app behind a request, and recordings and jobs that the caller may see."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from towpath import App, Job, JobNotFound
from towpath.http.problems import Problem, not_found
from towpath.identity.principal import Principal
from towpath.recordings import stored
from towpath.recordings.names import QUEUE_OF
from towpath.recordings.records import Recording

RecordingPath = Annotated[str, Path(description="The recording's id.")]
JobPath = Annotated[str, Path(description="The job's id.")]


def no_recording(recording_id: str) -> Problem:
    return not_found(f"no recording has the id {recording_id[:100]!r}; it may have been deleted")


async def own_recording(app: App, principal: Principal, recording_id: str) -> Recording:
    """Somebody else's answers like one that does not exist."""
    try:
        return await stored.find(app, recording_id.lower(), tenant=None if principal.admin else principal.tenant)
    except stored.RecordingNotFound:
        raise no_recording(recording_id) from None


async def own_job(app: App, principal: Principal, job_id: str) -> tuple[Job, Recording]:
    """A job that works on a recording the caller may see, and that recording."""
    try:
        job = await app.get(job_id)
    except JobNotFound:
        raise _no_job(job_id) from None
    found = await stored.by_ids(app, [job.subject[1]]) if job.operation in QUEUE_OF and job.subject is not None else []
    if not found or not (principal.admin or found[0].tenant == principal.tenant):
        raise _no_job(job_id)
    return job, found[0]


def _no_job(job_id: str) -> Problem:
    return not_found(f"no job of a recording has the id {job_id[:100]!r}; it may have been deleted or pruned")

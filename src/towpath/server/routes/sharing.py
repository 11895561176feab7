"""What routes about jobs share: the app behind a request, a job the caller may see, and filters as the engine takes them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from towpath.core.errors import JobNotFound
from towpath.core.records import Job
from towpath.engine.app import App
from towpath.engine.asking.listing import Wanted
from towpath.http.policy import tenant_of
from towpath.identity.principal import Principal
from towpath.server.schemas.bulk import JobFilter

JobIdPath = Annotated[str, Path(description="The job's id.")]


async def own_job(app: App, principal: Principal, job_id: str) -> Job:
    """The job, if it exists and the caller may know that. Somebody else's answers like one that does not exist."""
    try:
        job = await app.get(job_id)
    except JobNotFound:
        raise no_job(job_id) from None
    if not principal.admin and job.tenant != principal.tenant:
        raise no_job(job_id)
    return job


def no_job(job_id: str) -> JobNotFound:
    return JobNotFound(f"no job has the id {job_id[:100]!r}; it may have been deleted or pruned")


def wanted_by(asked: JobFilter, principal: Principal) -> Wanted:
    return Wanted(
        states=asked.states,
        operation=asked.operation,
        queue=asked.queue,
        tenant=tenant_of(principal, asked.tenant),
        parent=asked.parent,
        root=asked.root,
        roots=asked.roots,
        text=asked.text,
        created_after=asked.created_after,
        created_before=asked.created_before,
    )

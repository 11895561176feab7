"""What the routes share: the app behind a request, and recordings and jobs that the caller may see."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path

from towpath.engine.app import App
from towpath.http.principal import Principal
from towpath.http.problems import Problem, not_found
from towpath.http.state import app_of
from towpath.recordings import keeping
from towpath.recordings.records import Link, Recording, link_from

Engine = Annotated[App, Depends(app_of)]
RecordingPath = Annotated[str, Path(description="The recording's id.")]
JobPath = Annotated[str, Path(description="The job's id.")]


def no_recording(recording_id: str) -> Problem:
    return not_found(f"no recording has the id {recording_id[:100]!r}; it may have been deleted")


async def own_recording(app: App, principal: Principal, recording_id: str) -> Recording:
    """Somebody else's answers like one that does not exist."""
    try:
        return await keeping.find(
            app.services.store, recording_id.lower(), tenant=None if principal.admin else principal.tenant
        )
    except keeping.RecordingNotFound:
        raise no_recording(recording_id) from None


async def own_link(app: App, principal: Principal, job_id: str) -> tuple[Link, Recording]:
    """A job that works on a recording the caller may see."""
    link = await _link(app, job_id)
    if link is None or not (principal.admin or link.tenant == principal.tenant):
        raise _no_job(job_id)
    found = await keeping.by_ids(app.services.store, [link.recording_id])
    if not found:
        raise _no_job(job_id)
    return link, found[0]


async def _link(app: App, job_id: str) -> Link | None:
    try:
        asked = str(UUID(job_id))
    except ValueError:
        return None
    rows = await app.services.store.read(lambda tx: tx.fetch("recording_job_link", job_id=asked))
    return link_from(rows[0]) if rows else None


def _no_job(job_id: str) -> Problem:
    return not_found(f"no job of a recording has the id {job_id[:100]!r}; it may have been deleted or pruned")

"""The jobs of recordings as S1 has them: status, retry, delete, clear."""

from __future__ import annotations

from datetime import timedelta

from fastapi import Request

from towpath.http.audit import audit
from towpath.http.policy import Reader, Writer
from towpath.http.problems import conflict, responses
from towpath.http.routing import Router
from towpath.recordings import keeping, moving, schemas
from towpath.recordings.access import Engine, JobPath, own_link
from towpath.recordings.shaping import job_shape
from towpath.recordings.views import views
from towpath.store.contract import Row, Tx

router = Router(prefix="/api/recordings", tags=["recordings"])

_RECENTLY = timedelta(hours=1)
_MOST_JOBS = 500


@router.get("/job-queue-status", operation_id="get_job_queue_status")
async def get_job_queue_status(principal: Reader, app: Engine) -> schemas.JobQueueStatus:
    """The caller's jobs that have not ended, and those that ended within the last hour, newest first."""

    async def unit(tx: Tx) -> list[Row]:
        asked = {"tenant": principal.tenant, "account": principal.account_id}
        return list(await tx.fetch("recording_jobs_recent", since=tx.now - _RECENTLY, limit=_MOST_JOBS, **asked))

    rows = await app.services.store.read(unit)
    wanted = {str(row["job_id"]) for row in rows}
    recordings = await keeping.by_ids(app.services.store, [row["recording_id"] for row in rows])
    found = [job for view in await views(app, recordings) for job in view.jobs if job.id in wanted]
    return schemas.JobQueueStatus(jobs=[job_shape(job) for job in sorted(found, key=lambda job: job.id, reverse=True)])


@router.post("/jobs/clear-completed", operation_id="clear_completed_jobs")
async def clear_completed_jobs(principal: Writer, app: Engine, request: Request) -> schemas.Cleared:
    """Removes the caller's completed jobs. The recordings, their transcripts and summaries stay."""
    done = await moving.clear_completed(app, principal.tenant, principal.account_id)
    audit(request, "recordings.clear_completed", None, jobs=done)
    return schemas.Cleared(deleted=done)


@router.post("/jobs/{job_id}/retry", operation_id="retry_recording_job", responses=responses(404, 409))
async def retry_recording_job(principal: Writer, app: Engine, request: Request, job_id: JobPath) -> schemas.ProcessingJob:
    """Gives a failed or cancelled job a fresh start with all its attempts; what it had done is not done again."""
    link, recording = await own_link(app, principal, job_id)
    await app.requeue(link.job_id)
    audit(request, "recording.retry", recording.id, tenant=recording.tenant, job=link.job_id)
    [view] = await views(app, [recording])
    return next(job_shape(job) for job in view.jobs if job.id == link.job_id)


@router.delete("/jobs/{job_id}", operation_id="delete_recording_job", responses=responses(404, 409))
async def delete_recording_job(principal: Writer, app: Engine, request: Request, job_id: JobPath) -> schemas.DeletedJob:
    """Removes a job, stopping it first if need be. A new upload without a transcript goes with it, and its audio."""
    link, recording = await own_link(app, principal, job_id)
    try:
        deleted, with_recording = await moving.delete_job(app, link.job_id, recording, is_new_upload=link.is_new_upload)
    except moving.NotNow as error:
        raise conflict(str(error)) from None
    audit(request, "recording.delete_job", recording.id, tenant=recording.tenant, job=link.job_id)
    return schemas.DeletedJob(deleted=deleted, recording_deleted=with_recording)

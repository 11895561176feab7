"""The jobs of recordings as whoever sent them sees them: status, retry, delete, clear."""

from __future__ import annotations

from datetime import timedelta

from fastapi import Request

from towpath import Reading, Row
from towpath.http.audit import audit
from towpath.http.policy import Reader, Writer
from towpath.http.problems import conflict, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.recordings import moving, schemas, stored
from towpath.recordings.access import JobPath, own_job
from towpath.recordings.names import is_new_upload
from towpath.recordings.shaping import job_shape, recording_shape
from towpath.recordings.views import views

router = Router(prefix="/api/recordings", tags=["recordings"])

_RECENTLY = timedelta(hours=1)
_MOST_JOBS = 500


@router.get("/job-queue-status", operation_id="get_job_queue_status")
async def get_job_queue_status(principal: Reader, app: Engine) -> schemas.JobQueueStatus:
    """The caller's jobs that have not ended, and those that ended within the last hour, with their recordings."""

    async def unit(tx: Reading) -> list[Row]:
        asked = {"tenant": principal.tenant, "account": principal.account_id}
        return list(await tx.query("recording_jobs_recent", since=tx.now - _RECENTLY, limit=_MOST_JOBS, **asked))

    rows = await app.read(unit)
    wanted = {str(row["job_id"]) for row in rows}
    recordings = await stored.by_ids(app, [row["recording_id"] for row in rows])
    told = sorted(await views(app, recordings), key=lambda view: view.recording.id, reverse=True)
    found = [job for view in told for job in view.jobs if job.id in wanted]
    return schemas.JobQueueStatus(
        jobs=[job_shape(job) for job in sorted(found, key=lambda job: job.id, reverse=True)],
        recordings=[recording_shape(view) for view in told],
    )


@router.post("/jobs/clear-completed", operation_id="clear_completed_jobs")
async def clear_completed_jobs(principal: Writer, app: Engine, request: Request) -> schemas.Cleared:
    """Removes the caller's completed jobs. The recordings, their transcripts and summaries stay."""
    done = await moving.clear_completed(app, principal.tenant, principal.account_id)
    audit(request, "recordings.clear_completed", None, jobs=done)
    return schemas.Cleared(deleted=done)


@router.post("/jobs/{job_id}/retry", operation_id="retry_recording_job", responses=responses(404, 409))
async def retry_recording_job(principal: Writer, app: Engine, request: Request, job_id: JobPath) -> schemas.ProcessingJob:
    """Gives a failed or cancelled job a fresh start with all its attempts; what it had done is not done again."""
    job, recording = await own_job(app, principal, job_id)
    await app.requeue(job.id)
    audit(request, "recording.retry", recording.id, tenant=recording.tenant, job=job.id)
    [view] = await views(app, [recording])
    return next(job_shape(one) for one in view.jobs if one.id == job.id)


@router.delete("/jobs/{job_id}", operation_id="delete_recording_job", responses=responses(404, 409))
async def delete_recording_job(principal: Writer, app: Engine, request: Request, job_id: JobPath) -> schemas.DeletedJob:
    """Removes a job, stopping it first if need be. A new upload without a transcript goes with it, and its audio."""
    job, recording = await own_job(app, principal, job_id)
    try:
        deleted, with_recording = await moving.delete_job(app, job.id, recording, is_new_upload=is_new_upload(job))
    except moving.NotNow as error:
        raise conflict(str(error)) from None
    audit(request, "recording.delete_job", recording.id, tenant=recording.tenant, job=job.id)
    return schemas.DeletedJob(deleted=deleted, recording_deleted=with_recording)

"""Retrying and stopping what is done with recordings, singly and in bulk."""

from __future__ import annotations

from towpath import App, Job, NotRequeueable, State, TowpathError, Transaction
from towpath.recordings import intake, removing, stored
from towpath.recordings.intake import Options
from towpath.recordings.names import KIND, SUMMARIZING, TRANSCRIBING
from towpath.recordings.records import Recording
from towpath.recordings.status import standing

MOST_CLEARED = 1000
_RETRIABLE = frozenset({State.FAILED, State.CANCELLED, State.PARTIAL})


class NotNow(TowpathError):
    """What was asked for does not fit what is being done with the recording; the message says why."""


def as_it_was(recording: Recording) -> Options:
    return Options(
        language=recording.language, model=recording.model, speakers=recording.speakers,
        auto_summary=recording.auto_summary, template=recording.template,
    )  # fmt: skip


async def jobs_of(app: App, recording: Recording) -> list[Job]:
    [work] = await stored.work_on(app, [recording])
    return work.jobs


async def cancel(app: App, recording: Recording, by: str) -> list[str]:
    """Stops whatever is done with it; answers the jobs that were. What there is of it stays."""
    return (await app.subjects.cancel(KIND, recording.id, f"cancelled by {by}")).reached


async def retry(app: App, recording: Recording) -> str:
    """Gives the job that the recording's status comes from a fresh start, or makes another in its place if it is gone;
    NotNow if it needs none."""
    has_transcript = recording.transcript_id is not None
    told = standing(await jobs_of(app, recording), has_transcript=has_transcript, ended=recording.ended)
    speaker = told.job
    if speaker is None and told.needs_retry:
        summary = told.ended is not None and told.ended.operation in SUMMARIZING
        return await reprocess(app, recording, "summary" if summary else "transcription", as_it_was(recording))
    if speaker is None or speaker.state not in _RETRIABLE:
        raise NotNow(f"there is nothing to retry: its newest job is {speaker.state.value if speaker else 'gone'}")
    try:
        return (await app.requeue(speaker.id)).id
    except NotRequeueable as error:
        raise NotNow(str(error)) from None


async def reprocess(app: App, recording: Recording, what: str, options: Options) -> str:
    """Makes the transcription or the summary anew; NotNow while that is being done already."""
    live = [job for job in await jobs_of(app, recording) if job.live]
    if any(job.operation in TRANSCRIBING for job in live):
        raise NotNow("it is being transcribed already; cancel that first, or wait for it")
    if what == "transcription":
        return await intake.reprocess_transcription(app, recording, options)
    if recording.transcript_id is None:
        raise NotNow("there is no transcript to summarise; transcribe it first")
    if live:
        raise NotNow("it is being summarised already; cancel that first, or wait for it")
    return await intake.reprocess_summary(app, recording, options)


async def delete_job(app: App, job_id: str, recording: Recording, *, is_new_upload: bool) -> tuple[int, bool]:
    """Removes a job, stopped first if need be. An upload that has no transcript goes with its only hope of one."""
    if is_new_upload and recording.transcript_id is None:
        others = [job for job in await jobs_of(app, recording) if job.id != job_id]
        if not others:
            return await removing.remove(app, [recording]), True
    removed = await app.remove([job_id])
    if job_id in removed.refused and removed.refused[job_id] != "not found":
        raise NotNow(removed.refused[job_id])
    await app.transact(lambda tx: _forget(tx, recording, job_id))
    return removed.jobs, False


async def _forget(tx: Transaction, recording: Recording, job_id: str) -> None:
    """Whoever deletes one of several jobs wants to hear no more of it: those that are left speak."""
    if recording.transcript_id is not None or (await tx.jobs_of(KIND, [recording.id]))[recording.id]:
        await tx.change("recording_ending_forget", id=recording.id, job_id=job_id)


async def clear_completed(app: App, tenant: str, account: str) -> int:
    """Removes a person's completed jobs; their recordings stay as they are. Answers how many jobs went."""
    total = 0
    while True:
        rows = await app.query("recording_jobs_completed", tenant=tenant, account=account, limit=MOST_CLEARED)
        ids = [str(row["job_id"]) for row in rows]
        if not ids:
            return total
        removed = await app.remove(ids)
        total += len(removed.gone)
        if len(removed.gone) < len(ids):
            return total

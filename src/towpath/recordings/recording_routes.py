"""Recordings: list, look, rename, reprocess, stop, delete, and the same for many."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Query, Request
from pydantic import Field

from towpath import App, SchemaInvalid
from towpath.http import shapes
from towpath.http.audit import audit
from towpath.http.policy import Reader, Writer, tenant_of
from towpath.http.problems import conflict, responses
from towpath.http.routing import Router
from towpath.http.senders import sender_of
from towpath.http.state import Engine
from towpath.identity.principal import Principal
from towpath.recordings import alike, moving, removing, schemas, stored, tags, templates
from towpath.recordings.access import RecordingPath, no_recording, own_recording
from towpath.recordings.intake import Options
from towpath.recordings.records import Recording
from towpath.recordings.shaping import detail_shape, recording_shape, summary_shape, transcript_shape
from towpath.recordings.uploads import check_standing
from towpath.recordings.views import RecordingView, views

router = Router(prefix="/api/recordings", tags=["recordings"])

NOT_FOUND = "not found"


class RecordingQuery(shapes.Request):
    status: Annotated[list[schemas.AskedStatus], Field(default_factory=list, max_length=6)]
    text: Annotated[shapes.Text | None, Field(min_length=1, max_length=200, description="A part of the title.")] = None
    tag: Annotated[list[shapes.Text], Field(default_factory=list, max_length=10, description="All of these.")]
    id: Annotated[list[schemas.RecordingId], Field(default_factory=list, max_length=200, description="Only these.")]
    tenant: Annotated[shapes.Label | None, Field(description="For admins; everybody else sees their own tenant.")] = None
    after: Annotated[schemas.RecordingId | None, Field(description="The `next` of the page before.")] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


@router.get("", operation_id="list_recordings")
async def list_recordings(
    principal: Reader, app: Engine, asked: Annotated[RecordingQuery, Query()]
) -> shapes.Page[schemas.Recording]:
    """Recordings that match all of the filters, newest first. A page may be short, even empty, and still have a `next`.

    Asked for by id they come all at once, in no order, and no other filter counts.
    """
    tenant = tenant_of(principal, asked.tenant)

    if asked.id:
        known = [one for one in await stored.by_ids(app, [one.lower() for one in asked.id]) if tenant in (None, one.tenant)]
        return shapes.Page(items=[recording_shape(view) for view in await views(app, known)])
    sort = stored.Sort(asked.text, tags.keys_of(asked.tag))

    async def look(before: str | None, count: int) -> list[RecordingView]:
        return await views(app, await stored.page(app, tenant, sort, before=before, limit=count))

    return await shapes.page_of_fitting(
        look, lambda view: not asked.status or view.status in asked.status, recording_shape, lambda view: view.recording.id,
        after=asked.after, limit=asked.limit,
    )  # fmt: skip


class AlikeQuery(shapes.Request):
    sha256: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$", description="Of the file's content.")]
    language: Annotated[str | None, Field(max_length=40, description="As at the upload.")] = None
    model: Annotated[str | None, Field(max_length=100, description="As at the upload.")] = None
    speakers: bool = False
    auto_summary: bool | None = None


@router.get("/alike", operation_id="find_recording_alike")
async def find_recording_alike(principal: Reader, app: Engine, asked: Annotated[AlikeQuery, Query()]) -> schemas.Alike:
    """Whether a file with this content was sent before, with the same options; so that it need not be sent again."""
    options = Options(
        language=asked.language, model=asked.model, speakers=asked.speakers, auto_summary=asked.auto_summary
    )  # fmt: skip
    found = await alike.alike(app, principal.tenant, asked.sha256, options)
    return schemas.Alike(recording=recording_shape((await views(app, [found]))[0]) if found else None)


@router.post("/bulk", operation_id="bulk_update_recordings")
async def bulk_update_recordings(principal: Writer, app: Engine, request: Request, asked: schemas.Bulk) -> schemas.BulkDone:
    """Retries, cancels, deletes or reprocesses several; what cannot be done to one is told and the others are done."""
    ids = list(dict.fromkeys(one.lower() for one in asked.ids))
    known = {one.id: one for one in await stored.by_ids(app, ids) if _may_touch(principal, one)}
    refused = {one: NOT_FOUND for one in ids if one not in known}
    done = 0
    for recording in known.values():
        why = await _done_to(app, principal, asked, recording)
        done += why is None
        refused |= {} if why is None else {recording.id: why}
    audit(request, f"recordings.{asked.action}", None, recordings=done)
    return schemas.BulkDone(done=done, refused=refused)


def _may_touch(principal: Principal, recording: Recording) -> bool:
    return principal.admin or recording.tenant == principal.tenant


async def _done_to(app: App, principal: Principal, asked: schemas.Bulk, recording: Recording) -> str | None:
    """None if it was done, else why not."""
    try:
        if asked.action in ("tag", "untag"):
            more, less = (asked.tags, []) if asked.action == "tag" else ([], asked.tags)
            await tags.tag(app, recording, add=more, remove=less)
            return None
        return await _ACTIONS[asked.action](app, principal, recording)
    except (moving.NotNow, SchemaInvalid) as error:
        return str(error)
    except stored.RecordingNotFound:
        return NOT_FOUND


async def _retry(app: App, _principal: Principal, recording: Recording) -> None:
    await moving.retry(app, recording)


async def _cancel(app: App, principal: Principal, recording: Recording) -> str | None:
    return None if await moving.cancel(app, recording, principal.name) else "nothing is being done with it"


async def _delete(app: App, _principal: Principal, recording: Recording) -> None:
    await removing.remove(app, [recording])


async def _transcribe_again(app: App, _principal: Principal, recording: Recording) -> None:
    await moving.reprocess(app, recording, "transcription", moving.as_it_was(recording))


async def _summarize_again(app: App, _principal: Principal, recording: Recording) -> None:
    await moving.reprocess(app, recording, "summary", moving.as_it_was(recording))


_ACTIONS: dict[str, Callable[[App, Principal, Recording], Awaitable[str | None]]] = {
    "retry": _retry,
    "cancel": _cancel,
    "delete": _delete,
    "reprocess_transcription": _transcribe_again,
    "reprocess_summary": _summarize_again,
}


@router.get("/{recording_id}", operation_id="get_recording", responses=responses(404))
async def get_recording(principal: Reader, app: Engine, recording_id: RecordingPath) -> schemas.RecordingDetail:
    """One recording with its status, its summary, and every job that worked on it."""
    return await _detail(app, await own_recording(app, principal, recording_id))


async def _detail(app: App, recording: Recording) -> schemas.RecordingDetail:
    [view] = await views(app, [recording])
    transcript, summary = await stored.transcript_of(app, recording), await stored.summary_of(app, recording)
    unplaced = await stored.unplaced_edits(app, recording) if transcript else []
    prices = await app.prices.get() if summary else {}
    return detail_shape(
        view,
        transcript_shape(transcript, len(unplaced)) if transcript else None,
        summary_shape(summary, recording, prices) if summary else None,
    )


@router.patch("/{recording_id}", operation_id="update_recording", responses=responses(404))
async def update_recording(
    principal: Writer, app: Engine, request: Request, recording_id: RecordingPath, asked: schemas.RecordingChange
) -> schemas.RecordingDetail:
    """Changes the title, the tags, or both."""
    recording = await own_recording(app, principal, recording_id)
    wanted = None if asked.tags is None else tags.tags_from(asked.tags).values()
    try:
        if asked.title is not None:
            await stored.rename(app, recording, stored.title_from(asked.title, recording.file_name))
        if wanted is not None:
            await tags.retag(app, recording, wanted)
    except stored.RecordingNotFound:
        raise no_recording(recording_id) from None
    audit(request, "recording.update", recording.id, tenant=recording.tenant)
    return await _detail(app, await own_recording(app, principal, recording_id))


@router.delete("/{recording_id}", operation_id="delete_recording", responses=responses(404))
async def delete_recording(
    principal: Writer, app: Engine, request: Request, recording_id: RecordingPath
) -> schemas.DeletedRecording:
    """Deletes its jobs, the recording with everything made of it, and its audio, in this order."""
    recording = await own_recording(app, principal, recording_id)
    deleted = await removing.remove(app, [recording])
    audit(request, "recording.delete", recording.id, tenant=recording.tenant)
    return schemas.DeletedRecording(deleted=deleted)


@router.post("/{recording_id}/cancel", operation_id="cancel_recording", responses=responses(404))
async def cancel_recording(
    principal: Writer, app: Engine, request: Request, recording_id: RecordingPath
) -> schemas.CancelledJobs:
    """Stops whatever is being done with it; the list is empty if nothing is."""
    recording = await own_recording(app, principal, recording_id)
    stopped = await moving.cancel(app, recording, principal.name)
    if stopped:
        audit(request, "recording.cancel", recording.id, tenant=recording.tenant, jobs=len(stopped))
    return schemas.CancelledJobs(cancelled=stopped)


@router.post("/{recording_id}/reprocess", status_code=202, operation_id="reprocess_recording", responses=responses(404, 409))
async def reprocess_recording(
    principal: Writer, app: Engine, request: Request, recording_id: RecordingPath, asked: schemas.Reprocess
) -> schemas.Reprocessing:
    """Makes the transcription or the summary anew; what is there stays until the new one is.

    Corrections go over to the lines of the new transcript that cover the same stretch of time; those without such a line
    are among its `unplaced_edits`.
    """
    recording = await own_recording(app, principal, recording_id)
    check_standing(sender_of(principal), asked.priority)
    was = moving.as_it_was(recording)
    options = Options(
        language=asked.language if "language" in asked.model_fields_set else was.language,
        model=asked.model if "model" in asked.model_fields_set else was.model,
        speakers=was.speakers if asked.speakers is None else asked.speakers,
        auto_summary=was.auto_summary if asked.auto_summary is None else asked.auto_summary,
        template=asked.template if "template" in asked.model_fields_set else was.template,
        priority=asked.priority,
        replace_edits=asked.replace_edits,
    )
    if "template" in asked.model_fields_set:
        await templates.check(app, recording.tenant, asked.template)
    try:
        job_id = await moving.reprocess(app, recording, asked.what, options)
    except moving.NotNow as error:
        raise conflict(str(error)) from None
    except stored.RecordingNotFound:
        raise no_recording(recording_id) from None
    audit(request, "recording.reprocess", recording.id, tenant=recording.tenant, what=asked.what)
    return schemas.Reprocessing(id=recording.id, job_id=job_id)

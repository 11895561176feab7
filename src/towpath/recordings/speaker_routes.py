"""Who speaks in a recording: named once for all lines, merged, divided."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Path, Request

from towpath import App
from towpath.http.audit import audit
from towpath.http.policy import Reader, Writer
from towpath.http.problems import conflict, not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.recordings import schemas, speakers
from towpath.recordings.access import RecordingPath, own_recording
from towpath.recordings.records import Recording
from towpath.recordings.shaping import speaker_shape
from towpath.recordings.transcript_routes import text_of

router = Router(prefix="/api/recordings/{recording_id}/speakers", tags=["recordings"])
Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="The speaker's number.")]


@router.get("", operation_id="list_speakers", responses=responses(404))
async def list_speakers(principal: Reader, app: Engine, recording_id: RecordingPath) -> schemas.Speakers:
    """Who speaks in it, and how much."""
    return await _everybody(app, await own_recording(app, principal, recording_id))


@router.patch("/{number}", operation_id="rename_speaker", responses=responses(404, 409))
async def rename_speaker(
    principal: Writer,
    app: Engine,
    request: Request,
    recording_id: RecordingPath,
    number: Number,
    asked: schemas.SpeakerChange,
) -> schemas.Speakers:
    """Says who it is: in every line, and in transcripts that are made of this recording later."""
    recording = await own_recording(app, principal, recording_id)
    async with _told():
        transcript, _ = await text_of(app, recording)
        await speakers.rename(app, transcript, number, (asked.name or "").strip() or None, principal.name)
    audit(request, "recording.rename_speaker", recording.id, tenant=recording.tenant, speaker=number)
    return await _everybody(app, recording)


@router.post("/{number}/merge", operation_id="merge_speakers", responses=responses(404, 409))
async def merge_speakers(
    principal: Writer,
    app: Engine,
    request: Request,
    recording_id: RecordingPath,
    number: Number,
    asked: schemas.SpeakerMerge,
) -> schemas.Speakers:
    """Says that two are one: all lines of the first are the other's then."""
    recording = await own_recording(app, principal, recording_id)
    async with _told():
        transcript, _ = await text_of(app, recording)
        await speakers.merge(app, transcript, number, asked.into, principal.name)
    audit(request, "recording.merge_speakers", recording.id, tenant=recording.tenant, speaker=number, into=asked.into)
    return await _everybody(app, recording)


@router.post("/{number}/split", operation_id="split_speaker", responses=responses(404, 409))
async def split_speaker(
    principal: Writer,
    app: Engine,
    request: Request,
    recording_id: RecordingPath,
    number: Number,
    asked: schemas.SpeakerSplit,
) -> schemas.Speakers:
    """Says that one is two: the lines that are named, or those that sound unlike the rest, are somebody else's then."""
    recording = await own_recording(app, principal, recording_id)
    async with _told():
        transcript, _ = await text_of(app, recording)
        made = await speakers.split(app, transcript, number, asked.lines, principal.name)
    audit(request, "recording.split_speaker", recording.id, tenant=recording.tenant, speaker=number, made=made)
    return await _everybody(app, recording)


@asynccontextmanager
async def _told() -> AsyncIterator[None]:
    try:
        yield
    except speakers.NoSuchSpeaker as error:
        raise not_found(str(error)) from None
    except speakers.TranscriptReplaced:
        raise conflict("a newer transcript has taken the place of this one; look at it first") from None


async def _everybody(app: App, recording: Recording) -> schemas.Speakers:
    _, lines = await text_of(app, recording)
    return schemas.Speakers(speakers=[speaker_shape(one) for one in await speakers.speakers_of(app, recording, lines)])

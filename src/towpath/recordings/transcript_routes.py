"""Transcripts: read, search, correct a line, export one or many."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Path, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import Field

from towpath import App
from towpath.http import shapes
from towpath.http.audit import audit
from towpath.http.policy import Reader, Writer
from towpath.http.problems import Problem, conflict, not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.recordings import exports, schemas, stored
from towpath.recordings.access import RecordingPath, own_recording
from towpath.recordings.correcting import Correction, correct
from towpath.recordings.printing.extra import REMEDY, is_installed
from towpath.recordings.records import Line, Recording, Transcript
from towpath.recordings.shaping import edit_shape, segment_shape, speaker_shape
from towpath.recordings.speakers import speakers_of

router = Router(prefix="/api/recordings", tags=["recordings"])

EditPath = Annotated[str, Path(description="The correction's id.", max_length=100)]
LineNumber = Annotated[int, Path(ge=0, le=2**31 - 1, description="The line's number.")]


class TranscriptQuery(shapes.Request):
    search: Annotated[shapes.Text | None, Field(min_length=1, max_length=200, description="Only lines with this text.")] = (
        None
    )


class ExportQuery(shapes.Request):
    format: schemas.FormatName = "txt"


class BulkExportQuery(ExportQuery):
    id: Annotated[list[schemas.RecordingId], Field(min_length=1, max_length=500, description="Which recordings.")]


_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {}}, "description": "The transcript, as an attachment."}
}
_ZIP: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/zip": {}}, "description": "A file for each recording."}
}


@router.get("/export", operation_id="export_recordings", response_class=StreamingResponse, responses=_ZIP | responses(404))
async def export_recordings(principal: Reader, app: Engine, asked: Annotated[BulkExportQuery, Query()]) -> StreamingResponse:
    """Several transcripts in one zip file. A recording that has none is left out; 404 if none has one."""
    found = [await own_recording(app, principal, one) for one in dict.fromkeys(asked.id)]
    _check_installed(asked.format)
    ready = [recording for recording in found if recording.transcript_id is not None]
    if not ready:
        raise not_found("none of these recordings has a transcript yet")
    headers = _attachment(f"transcripts-{asked.format}.zip")
    return StreamingResponse(_zipped(app, ready, asked.format), media_type="application/zip", headers=headers)


async def _zipped(app: App, recordings: Sequence[Recording], wanted: str) -> AsyncIterator[bytes]:
    """One transcript at a time: what was written is sent before the next one is read."""
    target = _Pieces()
    taken: set[str] = set()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for recording in recordings:
            what = await _exported(app, recording)
            if what is not None:
                rendered = await asyncio.to_thread(exports.rendered, what, wanted)
                archive.writestr(_unused(exports.file_name(recording.title, wanted), taken), rendered)
                yield target.take()
    yield target.take()


def _unused(name: str, taken: set[str]) -> str:
    stem, _, ending = name.rpartition(".")
    number, free = 2, name
    while free.lower() in taken:
        free, number = f"{stem} ({number}).{ending}", number + 1
    taken.add(free.lower())
    return free


class _Pieces(io.RawIOBase):
    """What was written since it was last taken. It cannot be gone back in, so that zip needs nothing of it again."""

    def __init__(self) -> None:
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._held += data
        return len(data)

    def take(self) -> bytes:
        taken, self._held = bytes(self._held), bytearray()
        return taken


@router.get("/{recording_id}/transcript", operation_id="get_transcript", responses=responses(404))
async def get_transcript(
    principal: Reader, app: Engine, recording_id: RecordingPath, asked: Annotated[TranscriptQuery, Query()]
) -> schemas.Transcript:
    """The text and its timed lines, also while it is being heard; 404 while there is none of it."""
    recording = await own_recording(app, principal, recording_id)
    transcript, lines = await text_of(app, recording)
    chosen = stored.matching(lines, asked.search)
    return schemas.Transcript.model_construct(
        recording_id=recording.id, engine=transcript.engine, language=transcript.language, duration=recording.duration,
        text=" ".join(line.text for line in chosen), segments=[segment_shape(line) for line in chosen],
        speakers=[speaker_shape(one) for one in await speakers_of(app, recording, lines)],
        growing=recording.transcript_id is None,
        unplaced_edits=[edit_shape(edit) for edit in await stored.unplaced_edits(app, recording)],
    )  # fmt: skip


@router.patch("/{recording_id}/transcript/{number}", operation_id="update_transcript_line", responses=responses(404, 409))
async def update_transcript_line(
    principal: Writer, app: Engine, request: Request, recording_id: RecordingPath, number: LineNumber,
    asked: schemas.LineChange,
) -> schemas.Segment:  # fmt: skip
    """Corrects a line. What the engine heard is kept beside it, and `text: null` brings it back."""
    recording = await own_recording(app, principal, recording_id)
    transcript, lines = await text_of(app, recording)
    if all(line.number != number for line in lines):
        raise not_found(f"the transcript has no line {number}; it has {len(lines)}")
    given = asked.model_fields_set
    wish = Correction(
        principal.name, asked.text, asked.speaker, of_text="text" in given, of_speaker="speaker" in given, was=asked.was
    )
    changed = await correct(app, transcript, number, wish)
    if changed is None:
        raise conflict("this line has changed meanwhile: somebody corrected it, or a newer transcript has taken its place")
    audit(request, "recording.edit_line", recording.id, tenant=recording.tenant, line=number)
    return segment_shape(changed)


@router.delete(
    "/{recording_id}/unplaced-edits/{edit_id}",
    status_code=204,
    operation_id="dismiss_unplaced_edit",
    responses=responses(404),
)
async def dismiss_unplaced_edit(
    principal: Writer, app: Engine, request: Request, recording_id: RecordingPath, edit_id: EditPath
) -> None:
    """Forgets a correction that the present transcript has no line for."""
    recording = await own_recording(app, principal, recording_id)
    if not await stored.dismiss_edit(app, recording, edit_id.lower()):
        raise not_found("there is no such correction; it may have been dismissed already")
    audit(request, "recording.dismiss_edit", recording.id, tenant=recording.tenant)


@router.get(
    "/{recording_id}/export", operation_id="export_recording", response_class=Response, responses=_FILE | responses(404)
)
async def export_recording(
    principal: Reader, app: Engine, recording_id: RecordingPath, asked: Annotated[ExportQuery, Query()]
) -> Response:
    """The transcript as a file: txt, srt, vtt, json, md, docx or pdf."""
    recording = await own_recording(app, principal, recording_id)
    _check_installed(asked.format)
    what = await _exported(app, recording)
    if what is None:
        raise no_transcript()
    media_type = exports.FORMATS[asked.format][1]
    headers = _attachment(exports.file_name(recording.title, asked.format))
    return Response(await asyncio.to_thread(exports.rendered, what, asked.format), media_type=media_type, headers=headers)


def _check_installed(wanted: str) -> None:
    if not is_installed(wanted):
        raise Problem("unavailable", 503, f"this server has nothing that writes {wanted} files", remedy=REMEDY)


async def _exported(app: App, recording: Recording) -> exports.Exported | None:
    transcript = await stored.transcript_of(app, recording)
    if transcript is None:
        return None
    lines = await stored.lines_of(app, transcript.id)
    return exports.Exported(recording, transcript, lines, await stored.summary_of(app, recording))


async def text_of(app: App, recording: Recording) -> tuple[Transcript, list[Line]]:
    found = await stored.text_of(app, recording)
    if found is None:
        raise no_transcript()
    return found


def no_transcript() -> Problem:
    return not_found("this recording has no transcript yet; GET /api/recordings/{id} tells how far it is")


def _attachment(name: str) -> dict[str, str]:
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    return {"Content-Disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"}

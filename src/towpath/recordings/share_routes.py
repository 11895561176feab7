"""Share links: made, listed and withdrawn by those who may change the recording; opened by whoever has one."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Request
from fastapi.responses import Response

from towpath import App
from towpath.http import telling
from towpath.http.audit import audit
from towpath.http.policy import Anyone, Reader, Writer
from towpath.http.problems import Problem, not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine, base_url_of
from towpath.recordings import schemas, shares, stored, waveforms
from towpath.recordings.access import RecordingPath, own_recording
from towpath.recordings.listening import AUDIO, audio_answer
from towpath.recordings.records import Recording
from towpath.recordings.shaping import share_shape, shared_segment_shape, shared_summary_shape

router = Router(tags=["recordings"])
telling.hide("(?<=/shared/).+?(?=/audio$|/waveform$|$)")

SharePath = Annotated[str, Path(description="The link's id.")]
SecretPath = Annotated[str, Path(description="The last part of the link.", max_length=200)]


@router.get("/api/recordings/{recording_id}/shares", operation_id="list_shares", responses=responses(404))
async def list_shares(principal: Reader, app: Engine, recording_id: RecordingPath) -> list[schemas.Share]:
    """Links to this recording that still open it."""
    recording = await own_recording(app, principal, recording_id)
    return [share_shape(one) for one in await shares.shares_of(app, recording)]


@router.post("/api/recordings/{recording_id}/shares", status_code=201, operation_id="create_share", responses=responses(404))
async def create_share(
    principal: Writer, app: Engine, request: Request, recording_id: RecordingPath, asked: schemas.NewShare
) -> schemas.MadeShare:
    """A link by which anybody can read the recording until it expires; it is told once."""
    recording = await own_recording(app, principal, recording_id)
    secret, made = await shares.share(
        app, recording, hours=asked.hours, with_audio=asked.with_audio, by=principal.account_id
    )
    audit(request, "recording.share", recording.id, tenant=recording.tenant, hours=asked.hours)
    url = f"{base_url_of(request)}/shared/{secret}"
    return schemas.MadeShare(**share_shape(made).model_dump(), url=url, secret=secret)


@router.delete(
    "/api/recordings/{recording_id}/shares/{share_id}",
    status_code=204,
    operation_id="delete_share",
    responses=responses(404),
)
async def delete_share(
    principal: Writer, app: Engine, request: Request, recording_id: RecordingPath, share_id: SharePath
) -> None:
    """Withdraws a link at once."""
    recording = await own_recording(app, principal, recording_id)
    if not await shares.withdraw(app, recording, share_id.lower()):
        raise not_found("there is no such link; it may have been withdrawn already")
    audit(request, "recording.unshare", recording.id, tenant=recording.tenant)


@router.get("/api/shared/{secret}", operation_id="open_share", responses=responses(404))
async def open_share(_anyone: Anyone, app: Engine, secret: SecretPath) -> schemas.SharedRecording:
    """What a share link shows; 404 once it has expired or was withdrawn."""
    recording, with_audio = await _opened(app, secret)
    lines = [] if recording.transcript_id is None else await stored.lines_of(app, recording.transcript_id)
    summary = await stored.summary_of(app, recording)
    return schemas.SharedRecording(
        title=recording.title, duration=recording.duration, language=recording.language,
        created_at=recording.created_at, with_audio=with_audio, media_type=recording.media_type,
        segments=[shared_segment_shape(line) for line in lines],
        summary=None if summary is None else shared_summary_shape(summary),
    )  # fmt: skip


@router.get(
    "/api/shared/{secret}/audio", operation_id="play_shared_audio", response_class=Response, responses=AUDIO | responses(404)
)
async def play_shared_audio(_anyone: Anyone, app: Engine, request: Request, secret: SecretPath) -> Response:
    """The audio behind a share link, if it was shared too."""
    recording, with_audio = await _opened(app, secret)
    if not with_audio:
        raise _closed()
    return await audio_answer(app, request, recording)


@router.get("/api/shared/{secret}/waveform", operation_id="get_shared_waveform", responses=responses(404))
async def get_shared_waveform(_anyone: Anyone, app: Engine, secret: SecretPath) -> schemas.Waveform:
    """How loud the audio behind a share link is along its length, if it was shared too."""
    recording, with_audio = await _opened(app, secret)
    if not with_audio:
        raise _closed()
    return schemas.Waveform(peaks=await waveforms.waveform_of(app, recording))


async def _opened(app: App, secret: str) -> tuple[Recording, bool]:
    found = await shares.opened(app, secret)
    recordings = await stored.by_ids(app, [found[0]]) if found else []
    if found is None or not recordings:
        raise _closed()
    return recordings[0], found[1]


def _closed() -> Problem:
    return not_found("this link opens nothing; it may have expired or been withdrawn")

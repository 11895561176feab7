"""The audio of a recording, for players: ranges are answered, so that one can jump."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import Response

from towpath.http.policy import Reader
from towpath.http.problems import responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.recordings import schemas, waveforms
from towpath.recordings.access import RecordingPath, own_recording
from towpath.recordings.listening import AUDIO, audio_answer

router = Router(prefix="/api/recordings", tags=["recordings"])


@router.get(
    "/{recording_id}/audio", operation_id="play_recording", response_class=Response, responses=AUDIO | responses(404)
)
async def play_recording(principal: Reader, app: Engine, request: Request, recording_id: RecordingPath) -> Response:
    """The uploaded file as it came. Single ranges are answered with 206."""
    return await audio_answer(app, request, await own_recording(app, principal, recording_id))


@router.get("/{recording_id}/waveform", operation_id="get_waveform", responses=responses(404))
async def get_waveform(principal: Reader, app: Engine, recording_id: RecordingPath) -> schemas.Waveform:
    """How loud it is along its length. A recording that is older than waveforms gets its own by a job, once asked."""
    recording = await own_recording(app, principal, recording_id)
    found = await waveforms.waveform_of(app, recording)
    if found is None and recording.transcript_id is not None:
        await waveforms.ask_for(app, recording)
    return schemas.Waveform(peaks=found)

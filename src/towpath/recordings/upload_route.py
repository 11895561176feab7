"""POST /upload: a file in a form becomes a recording. It is the one route outside /api."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from towpath import assets
from towpath.assets import uploads
from towpath.assets.streamed import drop
from towpath.http import bodies
from towpath.http.audit import audit
from towpath.http.forms import receive_form
from towpath.http.patience import HANDING_OVER
from towpath.http.policy import Writer
from towpath.http.problems import invalid, responses
from towpath.http.routing import Router
from towpath.http.senders import sender_of
from towpath.http.state import Engine
from towpath.recordings import schemas
from towpath.recordings.uploads import KNOWN, PURPOSE

router = Router(tags=["recordings"])
bodies.stream("POST", "/upload", "multipart/form-data")

_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "additionalProperties": False,
                    "properties": {
                        "file": {"type": "string", "format": "binary", "description": "Audio, or video with sound."},
                        "title": {"type": "string", "description": "The file's name without its ending by default."},
                        "language": {"type": "string", "description": "What is spoken, such as en."},
                        "model": {"type": "string", "description": "Who hears it, such as whisper/small or service/NAME."},
                        "speakers": {"type": "boolean", "description": "Tell speakers apart, where the engine can."},
                        "template": {"type": "string", "description": "How it is summarised: the id of a template."},
                        "auto_summary": {"type": "boolean", "description": "As the settings say by default."},
                        "priority": {"type": "integer", "minimum": 0, "maximum": 3, "default": 1},
                    },
                }
            }
        },
    }
}


@router.post("/upload", status_code=202, operation_id="upload_recording", responses=responses(429), openapi_extra=_FORM)
async def upload_recording(principal: Writer, app: Engine, request: Request) -> schemas.Uploaded:
    """Takes a file and queues its transcription; the file is stored while it arrives, however large it is.

    Once all of it is here it is taken, whatever happens to this server: a job that commits with it makes the recording.
    """
    sender = sender_of(principal)
    form = await receive_form(app, request, sender, kinds=assets.MEDIA)
    try:
        if unknown := sorted(set(form.fields) - set(KNOWN)):
            raise invalid(unknown[0][:100], "there is no such field", remedy=f"known are: file, {', '.join(KNOWN)}")
        taken = await uploads.submit(app, sender, form.file, PURPOSE, form.fields)
    except BaseException:
        await drop(app, form.file)
        raise
    ended = await uploads.ended(app, taken.upload_id, taken.job_id, within=HANDING_OVER)
    made = (ended.result if ended is not None else None) or {"id": None, "job_id": None}
    audit(request, "recording.upload", made["id"] or taken.upload_id, bytes=form.file.intake.bytes)
    return schemas.Uploaded(**made, upload_id=taken.upload_id)

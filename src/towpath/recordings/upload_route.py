"""POST /upload: a file in a form becomes a recording. It is the one route outside /api."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from towpath import assets
from towpath.assets.forms import receive_form
from towpath.http import bodies
from towpath.http.audit import audit
from towpath.http.policy import Writer
from towpath.http.problems import invalid, responses
from towpath.http.routing import Router
from towpath.recordings import schemas
from towpath.recordings.access import Engine
from towpath.recordings.receiving import KNOWN, received

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
                        "speakers": {"type": "boolean", "description": "Tell speakers apart, where the engine can."},
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
    """Takes a file and queues its transcription; the file is stored while it arrives, however large it is."""
    form = await receive_form(app, request, principal.tenant, kinds=assets.MEDIA, created_by=principal.account_id)
    try:
        if unknown := sorted(set(form.fields) - set(KNOWN)):
            raise invalid(unknown[0][:100], "there is no such field", remedy=f"known are: file, {', '.join(KNOWN)}")
        made = await received(app, principal, form.asset, form.fields)
    except BaseException:
        await assets.delete(app, principal.tenant, [form.asset.id])
        raise
    audit(request, "recording.upload", made["id"], bytes=form.asset.bytes)
    return schemas.Uploaded(**made)

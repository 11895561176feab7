"""The audio of a recording as an answer."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import Response

from towpath import App, assets
from towpath.http.contents import content_response
from towpath.http.problems import responses
from towpath.recordings.records import Recording

_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": _BYTES, "description": "The whole file."},
    206: {"content": _BYTES, "description": "The part that was asked for."},
    304: {"description": "The file is the one the client has."},
}
AUDIO = _ANSWERS | responses(416)


async def audio_answer(app: App, request: Request, recording: Recording) -> Response:
    asset = await assets.get(app, recording.tenant, recording.asset_id)
    return await content_response(app, asset, request.headers)

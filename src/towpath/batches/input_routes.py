"""Where a batch provider fetches an input that lies here, by a link that was made for it; see links.py."""

from __future__ import annotations

import mimetypes
import time
from typing import Annotated, Any

from fastapi import Path, Query
from fastapi.responses import StreamingResponse

from towpath.assets.naming import disposition
from towpath.batches import links
from towpath.batches.schemas import Id
from towpath.http import shapes
from towpath.http.policy import Anyone
from towpath.http.problems import not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine

router = Router(prefix="/api/batch-inputs", tags=["batches"])
_CONTENT: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        "description": "The whole file.",
    }
}
_CLOSED = "this link opens nothing; it may have ended, or its batch has"


class LinkQuery(shapes.Request):
    token: Annotated[str, Query(max_length=2000)]


@router.get(
    "/{batch_id}/{number}", operation_id="get_batch_input", response_class=StreamingResponse,
    responses=_CONTENT | responses(404),
)  # fmt: skip
async def get_batch_input(
    _anyone: Anyone,
    app: Engine,
    batch_id: Annotated[Id, Path(description="The batch's id.")],
    number: Annotated[int, Path(ge=0, le=100_000, description="The input's place in its list, from 0.")],
    asked: Annotated[LinkQuery, Query()],
) -> StreamingResponse:
    """One input of a batch, for its provider. The link opens nothing else, and nothing at all once the batch has ended."""
    found = await links.opened(app.blobs, batch_id.lower(), number, asked.token, time.time())
    there = None if found is None else await app.blobs.head(found.key)
    if found is None or there is None:
        raise not_found(_CLOSED)
    kind = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
    headers = {
        "Content-Length": str(there.size), "Content-Disposition": disposition("attachment", found.name),
        "Cache-Control": "private, no-store",
    }  # fmt: skip
    return StreamingResponse(app.blobs.open(found.key), media_type=kind, headers=headers)

"""The operations that this app knows, and what they take."""

from __future__ import annotations

import inspect

from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError

from towpath.engine.registry import Operation as Known
from towpath.http.policy import Reader
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.server.schemas.operations import Operation

router = Router(prefix="/api/operations", tags=["operations"])


@router.get("", operation_id="list_operations")
async def list_operations(_principal: Reader, app: Engine) -> list[Operation]:
    """What can be done here. Only public operations can be asked for over HTTP."""
    return [_shown(known) for name in app.registry.names() if (known := app.registry.get(name)) is not None]


def _shown(known: Known) -> Operation:
    return Operation(
        name=known.name,
        queue=known.queue,
        public=known.public,
        description=_first_paragraph(known),
        payload_schema=_schema(known),
        max_attempts=known.retry.limit,
        timeout=known.timeout,
    )


def _first_paragraph(known: Known) -> str | None:
    text = inspect.getdoc(known.run)
    return " ".join(text.split("\n\n", 1)[0].split()) if text else None


def _schema(known: Known) -> dict[str, object] | None:
    if not known.takes_payload:
        return {"type": "null"}
    if known.adapter is None:
        return None
    try:
        return known.adapter.json_schema()
    except (PydanticInvalidForJsonSchema, PydanticUserError):
        return None  # a type of the app's own that cannot say what it looks like

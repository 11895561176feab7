"""Operations that this app knows."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from towpath.server.schemas.base import Answer


class Operation(Answer):
    name: str
    queue: str
    public: Annotated[bool, Field(description="Whether POST /api/jobs takes it.")]
    description: str | None
    payload_schema: Annotated[
        dict[str, Any] | None,
        Field(serialization_alias="schema", description="JSON schema of its payload; null if anything goes."),
    ]
    max_attempts: int
    timeout: Annotated[float, Field(description="Seconds per entry.")]

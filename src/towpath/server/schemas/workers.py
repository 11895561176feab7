"""Worker processes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from towpath.server.schemas.base import Answer, Moment


class Worker(Answer):
    id: str
    name: str
    queues: list[str]
    operations: list[str]
    concurrency: int
    running: Annotated[int, Field(description="Jobs in its slots.")]
    claimed: Annotated[int, Field(description="Jobs that it has claimed beyond its slots; they start when one is free.")]
    version: str
    started_at: Moment
    seen_at: Moment
    stopped_at: Moment | None
    alive: bool
    busy: Annotated[float, Field(description="How much of it is in use, 0 to 1.")]

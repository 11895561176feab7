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
    running: int
    version: str
    started_at: Moment
    seen_at: Moment
    stopped_at: Moment | None
    alive: bool
    busy: Annotated[float, Field(description="How much of it is in use, 0 to 1.")]

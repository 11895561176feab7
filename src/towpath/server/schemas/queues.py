"""Queues and their lanes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from towpath.server.schemas.base import Answer, Request

Cap = Annotated[int | None, Field(ge=0, le=1_000_000)]


class Queue(Answer):
    """A queue at a glance, over all tenants."""

    name: str
    queued: int
    running: int
    waiting: int
    paused: bool
    max_slots: int | None
    workers: int
    rate_per_minute: Annotated[float, Field(description="Jobs started per minute, over the last ten.")]
    oldest_wait_seconds: Annotated[float | None, Field(description="How long its next job has been waiting.")]


class Lane(Answer):
    """A lane's share of a queue."""

    queue: str
    lane: str
    weight: float
    max_slots: int | None
    max_roots: int | None
    ready: Annotated[int, Field(description="Jobs that could run now; 1,000 means that or more.")]
    running: int
    share: Annotated[float, Field(description="Its fair share among the lanes with something to do, 0 to 1.")]


class QueueDetail(Queue):
    lanes: Annotated[list[Lane], Field(description="Admins see all, others their own. At most 200.")]


class QueueSettings(Request):
    max_slots: Annotated[Cap, Field(description="At most so many of its jobs run at once; null lifts the cap.")]


class LaneSettings(Request):
    weight: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] = 1.0
    max_slots: Annotated[Cap, Field(description="At most so many of its jobs run at once.")] = None
    max_roots: Annotated[Cap, Field(description="At most so many root jobs are open at once. Not with max_slots.")] = None

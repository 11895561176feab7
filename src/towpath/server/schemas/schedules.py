"""Schedules."""

from __future__ import annotations

from towpath.server.schemas.base import Answer, Moment
from towpath.server.schemas.jobs import StateName


class Schedule(Answer):
    name: str
    cron: str
    timezone: str
    operation: str
    tenant: str
    priority: int
    paused: bool
    next_fire: Moment | None
    last_fire: Moment | None
    last_job_id: str | None
    last_state: StateName | None

"""Schedules."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from towpath.core.records import DEFAULT_PRIORITY
from towpath.server.schemas.base import Answer, Label, Moment, Request
from towpath.server.schemas.jobs import StateName

Origin = Literal["code", "people"]


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
    origin: Annotated[Origin, Field(description="Who keeps it: the code that declares it, or people.")]
    retired: Annotated[bool, Field(description="No running process declares it any more: it does not fire.")]


class ScheduleDetail(Schedule):
    payload: Any
    payload_truncated: Annotated[bool, Field(description="Whether it is too large to be shown here.")]


class ScheduleChange(Request):
    """All of it: what is left out is as for a new one."""

    cron: Annotated[str, Field(min_length=1, max_length=200, description="Five fields, such as `0 3 * * *`.")]
    operation: Annotated[str, Field(min_length=1, max_length=200)]
    payload: Any = None
    tenant: Annotated[Label | None, Field(description="On whose behalf; the caller's own tenant if left out.")] = None
    timezone: Annotated[str, Field(min_length=1, max_length=100, description="Whose clock `cron` means.")] = "UTC"
    priority: Annotated[int, Field(ge=0, le=3)] = DEFAULT_PRIORITY
    queue: Annotated[str | None, Field(min_length=1, max_length=200, description="The operation's own if left out.")] = None


class NewSchedule(ScheduleChange):
    """Plans something that no code declares."""

    name: Label

"""The Failed Items Inbox."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from towpath.core.naming import folded
from towpath.server.schemas.base import Answer, Moment, Name, Page, Request, Text
from towpath.server.schemas.bulk import JobId

Cause = Annotated[Text, Field(max_length=500)]
Kind = Annotated[Cause, AfterValidator(folded)]


class InboxGroup(Answer):
    """Failures of one cause. `message` has its variable parts taken out."""

    operation: str
    kind: str
    message: str
    jobs: int
    first_at: Moment
    last_at: Moment
    example: Annotated[str, Field(description="The newest of the jobs.")]
    trend: Annotated[list[int], Field(min_length=24, max_length=24, description="Failures per hour, oldest first.")]
    dismissed: Annotated[bool, Field(description="Whether somebody wants to hear no more of it.")] = False


class InboxPage(Page[InboxGroup]):
    """The groups, largest first."""

    capped: Annotated[bool, Field(description="There are more failures: only the newest were grouped.")] = False
    dismissed: Annotated[int, Field(description="How many groups were dismissed.")] = 0


class ChosenGroup(Request):
    operation: Name
    kind: Kind
    message: Cause


class Requeue(Request):
    """Which failures to give a fresh start: some by id, one group, or all of them."""

    ids: Annotated[list[JobId] | None, Field(max_length=1000)] = None
    operation: Name | None = None
    kind: Kind | None = None
    message: Cause | None = None
    all: Annotated[bool, Field(description="Must be true when nothing else is given.")] = False
    after: Annotated[JobId | None, Field(description="The `next` of the answer before.")] = None
    payload: Annotated[Any, Field(description="Instead of the one each had; null or left out keeps that.")] = None
    keep_steps: bool = False


class Requeued(Answer):
    """What became of them. It works in bounded batches: while `remaining`, ask again with `next` as `after`."""

    requeued: int
    refused: Annotated[dict[str, str], Field(description="Job id: why it was left alone.")]
    remaining: bool = False
    next: str | None = None

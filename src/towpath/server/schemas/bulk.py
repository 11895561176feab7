"""Filters and bulk actions."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from towpath.core.statuses import states_of
from towpath.server.schemas.base import Answer, AskedMoment, Label, Name, Request, Text, any_case
from towpath.server.schemas.jobs import AskedState, AskedStatus

JobId = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$")]
States = Annotated[list[AskedState], Field(max_length=7)]
Statuses = Annotated[list[AskedStatus], Field(max_length=6)]
_Action = Literal["cancel", "retry", "delete"]
SearchText = Annotated[
    Text,
    Field(
        min_length=1, max_length=200,
        description="The beginning of an id (eight digits or more), or a part of the key, the operation or a failed job's "
        "error.",
    ),
]  # fmt: skip


class JobFilter(Request):
    """Which jobs are meant; all conditions must hold."""

    state: Annotated[States, Field(default_factory=list)]
    status: Annotated[Statuses, Field(default_factory=list, description="Instead of `state`: `RUNNING` is `waiting` too.")]
    operation: Name | None = None
    queue: Name | None = None
    tenant: Annotated[Label | None, Field(description="For admins; everybody else sees their own tenant.")] = None
    parent: JobId | None = None
    root: JobId | None = None
    roots: Annotated[bool, Field(description="Only those that are nobody's children.")] = False
    text: SearchText | None = None
    created_after: AskedMoment | None = None
    created_before: AskedMoment | None = None
    after: Annotated[JobId | None, Field(description="The `next` of the page before.")] = None

    @model_validator(mode="after")
    def _one_vocabulary(self) -> Self:
        if self.state and self.status:
            raise ValueError("ask by state or by status, not by both")
        return self

    @property
    def states(self) -> list[str]:
        return [*self.state, *(state.value for state in states_of(self.status))]


class Bulk(Request):
    """What to do with the jobs of these ids, or with those that match a filter. One of the two is given."""

    action: Annotated[_Action, any_case(_Action)]
    ids: Annotated[list[JobId] | None, Field(max_length=1000)] = None
    filter: JobFilter | None = None


class BulkDone(Answer):
    """What a bulk action did. It works in bounded batches: while `remaining`, ask again with `next` as `filter.after`."""

    done: int
    refused: Annotated[dict[str, str], Field(description="Job id: why it was left alone.")]
    remaining: bool
    next: str | None = None

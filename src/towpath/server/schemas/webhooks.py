"""Webhooks and their deliveries."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from towpath.server.schemas.base import Answer, Label, Moment, Name, Request, Text, any_case
from towpath.server.schemas.jobs import StateName

Ending = Literal["succeeded", "partial", "failed", "cancelled"]
Url = Annotated[Text, Field(min_length=8, max_length=2000, description="Begins with https:// or http://.")]
Endings = Annotated[
    list[Annotated[Ending, any_case(Ending)]], Field(min_length=1, max_length=4, description="The endings it hears of.")
]
Operations = Annotated[
    Annotated[list[Name], Field(min_length=1, max_length=100)] | None,
    Field(description="Only jobs of these; null: of all, children included."),
]


class Webhook(Answer):
    id: str
    tenant: str
    url: str
    states: list[Ending]
    operations: list[str] | None
    active: bool
    created_at: Moment
    failing_since: Annotated[Moment | None, Field(description="Since when nothing could be delivered; null if all is well.")]
    paused_reason: Annotated[
        str | None, Field(description="Why it is not active, if nobody switched it off; it waits for a person.")
    ]


class NewWebhook(Webhook):
    secret: Annotated[str, Field(description="What its messages are signed with. It is shown this once.")]


class WebhookRequest(Request):
    url: Url
    states: Annotated[Endings, Field(default_factory=lambda: ["succeeded", "partial", "failed", "cancelled"])]
    operations: Operations = None
    tenant: Annotated[Label | None, Field(description="For admins: whose; one's own if it is left out.")] = None


class WebhookChanges(Request):
    """Only what is given changes."""

    url: Url | None = None
    states: Endings | None = None
    operations: Operations = None
    active: bool | None = None


class Delivery(Answer):
    id: Annotated[str, Field(description="The id of the job that delivers it.")]
    webhook_id: str
    job_id: Annotated[str | None, Field(description="The job it tells of; null for a test.")]
    event: Annotated[str, Field(description="`job.succeeded` and so on, or `ping`.")]
    state: StateName
    attempts: Annotated[int, Field(description="How often it was sent.")]
    response_status: Annotated[int | None, Field(description="What the receiver answered last; null if it did not.")]
    created_at: Moment
    finished_at: Moment | None
    error: str | None

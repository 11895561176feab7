"""Shapes of the documents API."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from towpath.documents.intake import LONGEST_ADDRESS, LONGEST_TITLE, MOST_ITEMS
from towpath.documents.options import LEAST_TOKENS, MOST_TOKENS, USUAL_TOKENS
from towpath.http.shapes import Answer, Moment, Request, Text, any_case

Id = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$")]
Kind = Literal["upload", "url", "bucket", "reingest"]
Priority = Literal["interactive", "bulk"]
RunStatus = Literal["PENDING", "RUNNING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED"]
ItemStatus = Literal["PENDING", "RUNNING", "COMPLETED", "FAILED", "CANCELLED"]
AskedRunStatus = Annotated[RunStatus, any_case(RunStatus)]
AskedItemStatus = Annotated[ItemStatus, any_case(ItemStatus)]
Address = Annotated[Text, Field(min_length=1, max_length=LONGEST_ADDRESS)]
StepName = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{1,49}$")]


class RunSettings(Request):
    """How the documents are read; what is left out is as usual."""

    ocr: Annotated[bool | None, Field(description="Read pages that are pictures; as TOWPATH_EXTRACT_OCR says.")] = None
    chunk_tokens: Annotated[
        int | None,
        Field(ge=LEAST_TOKENS, le=MOST_TOKENS, description=f"How long a passage is meant to be; usually {USUAL_TOKENS}."),
    ] = None
    embed: Annotated[bool | None, Field(description="Whether they are found by meaning, too; usually yes.")] = None
    entities: Annotated[bool | None, Field(description="Whether names, dates and the like are looked for.")] = None
    remote: Annotated[
        dict[StepName, Address | None] | None,
        Field(
            max_length=20, description="Steps that a service does instead, each with its https:// address; null: none does."
        ),
    ] = None
    remote_cents: Annotated[
        float | None, Field(ge=0, le=1e9, description="What one call of such a service costs at the most.")
    ] = None
    budget_cents: Annotated[
        float | None, Field(ge=0, le=1e12, description="What the run may spend; beyond it the rest waits.")
    ] = None


class RunBudget(Request):
    budget_cents: Annotated[
        float | None, Field(ge=0, le=1e12, description="All that the run may spend, what is spent included; null: anything.")
    ]


class NewItem(Request):
    """One of the four, as the run's kind says."""

    asset_id: Annotated[Id | None, Field(description="An uploaded file; its purpose is `document`.")] = None
    url: Annotated[Address | None, Field(description="https://…")] = None
    uri: Annotated[Address | None, Field(description="A folder of a bucket: s3://, gs:// or az://bucket/folder/.")] = None
    document_id: Annotated[Id | None, Field(description="A document that is to be read again, if it has changed.")] = None
    source: Annotated[
        Address | None,
        Field(description="What an uploaded file is known by where it comes from, such as its path: the next file of the "
              "same source is the same document."),
    ] = None  # fmt: skip


class NewRun(Request):
    kind: Kind
    items: Annotated[list[NewItem], Field(min_length=1, max_length=MOST_ITEMS)]
    settings: Annotated[RunSettings, Field(default_factory=RunSettings)]
    priority: Annotated[
        Priority | None, Field(description="`interactive` goes before `bulk`; unless said otherwise, few items are.")
    ] = None
    title: Annotated[Text | None, Field(max_length=LONGEST_TITLE)] = None


class KnownThing(Request):
    """A file by its source and content, or an address."""

    source: Annotated[Address | None, Field(description="As the item of a run would have it.")] = None
    sha256: Annotated[str | None, Field(pattern=r"^[0-9a-fA-F]{64}$", description="Of the file's content.")] = None
    url: Annotated[Address | None, Field(description="https://…, or an object of a bucket.")] = None

    @model_validator(mode="after")
    def _one_of_the_two(self) -> KnownThing:
        if (self.url is None) == (self.source is None) or (self.source is None) != (self.sha256 is None):
            raise ValueError("give source and sha256, or url")
        return self


class AskedKnown(Request):
    items: Annotated[list[KnownThing], Field(min_length=1, max_length=100)]
    settings: Annotated[RunSettings, Field(default_factory=RunSettings)]


class MadeRun(Answer):
    id: str
    job_id: str
    status: RunStatus


class RunEta(Answer):
    """Seconds until it is done."""

    low: float
    high: float


class RunMoney(Answer):
    limit_cents: float
    spent_cents: Annotated[float, Field(description="With what is held back for what is under way.")]


class StepCount(Answer):
    step: str
    done: Annotated[int, Field(description="Items that have it behind them.")]
    duration_ms: float
    tokens_in: int
    tokens_out: int
    cost_cents: float


class DocumentRun(Answer):
    """Status, counts and error are told from the run's jobs at the moment of the answer."""

    id: str
    title: str
    kind: Kind
    tenant: str
    status: RunStatus
    priority: Priority
    settings: dict[str, Any]
    count: Annotated[int | None, Field(description="Items; null until a bucket's folder has been listed.")]
    counts: Annotated[dict[str, int], Field(description="Items by their status.")]
    waiting: Annotated[
        dict[str, int],
        Field(description="Items that wait for something else than their turn, by what, such as `budget`."),
    ]
    budget: Annotated[RunMoney | None, Field(description="What it may spend; null: nobody has said.")]
    steps: list[StepCount]
    tokens_in: int
    tokens_out: int
    cost_cents: float
    position: Annotated[int | None, Field(description="1 is next; null once it is begun.")]
    eta: RunEta | None
    eta_reason: Annotated[str | None, Field(description="Why there is no estimate.")]
    waiting_for: str | None
    error: str | None
    warning: str | None
    job_id: Annotated[str | None, Field(description="The job that the status comes from; null: none is left.")]
    creator: str | None
    created_at: Moment
    finished_at: Moment | None


class ItemError(Answer):
    category: Annotated[str, Field(description="`transient`, `rate_limited`, `schema_invalid` or `fatal`.")]
    error_class: str
    message: str
    remedy: str | None
    step: Annotated[str | None, Field(description="Where it happened.")]


class ItemStep(Answer):
    step: str
    done: bool
    duration_ms: float | None
    retries: int
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_cents: float | None
    reused: Annotated[bool, Field(description="The same content had been through this step before.")]
    ended_at: Moment


class DocumentItem(Answer):
    id: str
    run_id: str
    number: int
    name: str
    source: Annotated[str, Field(description="Where it comes from, as it may be shown.")]
    tenant: str
    status: ItemStatus
    step: Annotated[
        str, Field(description="The last one that is done; ENQUEUED before the first, DONE or FAILED at the end.")
    ]
    steps: list[ItemStep]
    attempt: int
    duration_ms: float | None
    model: Annotated[str | None, Field(description="The last one that was asked.")]
    tokens_in: int | None
    tokens_out: int | None
    cost_cents: float | None
    reused: Annotated[list[str], Field(description="Steps that the same content had been through before.")]
    superseded: Annotated[
        bool, Field(description="A newer content of the same source was there when it had been read, and has stayed.")
    ]
    waiting_for: str | None
    position: Annotated[int | None, Field(description="Among the items of its run: 1 is next; null once it is begun.")]
    eta: RunEta | None
    eta_reason: Annotated[str | None, Field(description="Why there is no estimate.")]
    retry_at: Moment | None
    error: ItemError | None
    document_id: str | None
    job_id: str | None
    started_at: Moment | None
    finished_at: Moment | None


class KnownItems(Answer):
    items: Annotated[list[DocumentItem | None], Field(description="In the order of what was asked.")]


class ItemEvent(Answer):
    seq: int
    kind: Annotated[
        str, Field(description="`step_started`, `step_completed`, `step_failed`, `retry_scheduled`, or the job's own event.")
    ]
    name: str
    step: str | None
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_cents: float | None
    category: Annotated[str | None, Field(description="Of a failure.")]
    message: str | None
    attempt: int
    at: Moment


class RetryItems(Request):
    """Without anything every item that failed or was cancelled is retried."""

    items: Annotated[list[Id] | None, Field(min_length=1, max_length=MOST_ITEMS)] = None
    cause: Annotated[
        Text | None, Field(max_length=500, description="The `cause` of failures, or a part of their message.")
    ] = None
    settings: Annotated[RunSettings | None, Field(description="What is to be otherwise this time.")] = None


class RetriedItems(Answer):
    retried: int
    refused: Annotated[dict[str, str], Field(description="By item, why not.")]


class Cause(Answer):
    cause: str
    items: int
    category: str
    message: Annotated[str, Field(description="Of one of them.")]
    remedy: str | None


class Causes(Answer):
    causes: list[Cause]


class CancelledRun(Answer):
    cancelled: Annotated[list[str], Field(description="Ids of the jobs that were stopped.")]


class DeletedDocuments(Answer):
    deleted: int


class Document(Answer):
    id: str
    title: str
    name: str
    source: Annotated[str, Field(description="Where it comes from, as it may be shown.")]
    tenant: str
    kind: str
    media_type: str
    language: str | None
    unit: Annotated[str, Field(description="What a page is: `page`, `slide`, `sheet` or `text`.")]
    method: Annotated[str, Field(description="`text`, `ocr` or `mixed`.")]
    pages: int
    characters: int
    passages: int
    embedded: Annotated[str | None, Field(description="The model of its vectors; null: it is found by words only.")]
    indexed: bool
    bytes: int
    sha256: str
    warnings: list[str]
    made: Annotated[dict[str, Any], Field(description="What steps that were added to the usual ones have made of it.")]
    run_id: Annotated[str, Field(description="The run that has read it last.")]
    item_id: str
    created_at: Moment
    updated_at: Moment


class DocumentPage(Answer):
    document_id: str
    number: int
    unit: str
    text: str
    pages: Annotated[int, Field(description="How many there are.")]

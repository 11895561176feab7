"""Shapes of the batches API."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool

from towpath.batches.inputs import LONGEST_ADDRESS
from towpath.batches.intake import LONGEST_TITLE, MOST_INPUTS, MOST_MODELS
from towpath.http.shapes import Answer, Moment, Request, Text, any_case

Id = Annotated[str, Field(pattern=r"^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$")]
StatusName = Literal["PENDING", "IN_PROGRESS", "COMPLETED", "PARTIAL_COMPLETE", "FAILED", "CANCELLED"]
AskedStatus = Annotated[StatusName, any_case(StatusName)]
ProviderStateName = Literal[
    "intended", "calling", "submitted", "unknown", "completed", "partial", "failed", "cancelled"
]  # fmt: skip
ModelName = Annotated[Text, Field(min_length=1, max_length=200)]
Models = Annotated[
    list[ModelName],
    Field(
        default_factory=list,
        max_length=MOST_MODELS,
        description="Each request is asked of each of them. LOCAL may go without: then it is the one of the settings.",
    ),
]
DatasetIds = Annotated[
    list[Id],
    Field(max_length=100, default_factory=list, description="Those of `GET /api/datasets`, or of earlier batches."),
]
Requests = Annotated[
    list[dict[str, Any]] | None,
    Field(
        min_length=1, max_length=50_000,
        description="`{custom_id, body}` each; `body` is what the chat API takes, without a model. One that cannot be asked "
        "is told among the results, and does not stop the others.",
    ),
]  # fmt: skip


class Inputs(Request):
    """Where the requests are: one of the three."""

    requests: Requests = None
    input: Annotated[
        Text | None,
        Field(
            min_length=1, max_length=LONGEST_ADDRESS,
            description="A file of JSON lines: the id of an uploaded one, or an address that begins with https://, s3://, "
            "gs:// or az://. It is read once; a signature in it is not kept longer than that.",
        ),
    ] = None  # fmt: skip
    dataset_ids: DatasetIds


class NewCompletion(Inputs):
    provider: Annotated[Text, Field(min_length=1, max_length=100, description="See `GET /api/providers`.")] = "LOCAL"
    models: Models
    title: Annotated[Text | None, Field(max_length=LONGEST_TITLE)] = None
    window: Annotated[
        str | None, Field(pattern=r"^[1-9][0-9]{0,3}[hd]$", description="How long the provider may take, such as 24h.")
    ] = None
    strict_inputs: Annotated[
        bool, Field(description="Whether a request that cannot be asked makes the batch PARTIAL_COMPLETE.")
    ] = False


InputName = Annotated[Text, Field(min_length=1, max_length=LONGEST_ADDRESS)]
InputNames = Annotated[
    list[InputName] | None,
    Field(
        min_length=1, max_length=MOST_INPUTS,
        description="Ids of uploaded files, and addresses that begin with https://, s3://, gs:// or az://. One that "
        "cannot be heard is told among the results, and does not stop the others.",
    ),
]  # fmt: skip


class NewTranscription(Request):
    """The inputs are listed, or those of earlier batches: one of the two."""

    provider: Annotated[Text, Field(min_length=1, max_length=100, description="See `GET /api/providers`.")] = "LOCAL"
    models: Annotated[
        list[ModelName],
        Field(
            default_factory=list, max_length=MOST_MODELS,
            description="Each input is heard by each of them. Without any the provider takes its usual one; LOCAL has the "
            "one of the settings.",
        ),
    ]  # fmt: skip
    inputs: InputNames = None
    dataset_ids: DatasetIds
    title: Annotated[Text | None, Field(max_length=LONGEST_TITLE)] = None
    locale: Annotated[
        str | None,
        Field(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", max_length=35, description="Such as en-US. AZURE and GOOGLE "
              "must be told; the others find out."),
    ] = None  # fmt: skip
    diarization: Annotated[
        StrictBool | Annotated[int, Field(ge=2, le=30)], Field(description="True, or how many speakers there are at most.")
    ] = False
    word_timestamps: Annotated[bool, Field(description="A time for each word, where the provider has that.")] = False
    strict_inputs: Annotated[
        bool, Field(description="Whether an input that cannot be heard makes the batch PARTIAL_COMPLETE.")
    ] = False


class NewDataset(Request):
    """What is in it: one of the three."""

    name: Annotated[Text | None, Field(max_length=300)] = None
    requests: Requests = None
    inputs: InputNames = None
    input: Annotated[
        Text | None,
        Field(
            min_length=1, max_length=LONGEST_ADDRESS,
            description="A file of JSON lines, as a batch takes it: the id of an uploaded one, or an address. What is at an "
            "address is read by the first batch that names the dataset.",
        ),
    ] = None  # fmt: skip


class Dataset(Answer):
    """A stored list of requests or inputs, for `dataset_ids` of a batch."""

    id: str
    name: str
    tenant: str
    asset_id: Annotated[str | None, Field(description="The uploaded file that its lines are in.")]
    source: Annotated[str | None, Field(description="The address that its lines come from, as it may be shown.")]
    batch_id: Annotated[
        str | None,
        Field(description="The batch that it came with: it goes with the last that names it. Null: it stays until deleted."),
    ]
    created_at: Moment


class DeletedDataset(Answer):
    deleted: int


class EstimateRequest(Inputs):
    models: Annotated[list[ModelName], Field(min_length=1, max_length=MOST_MODELS)]


class Estimate(Answer):
    """Tokens are guessed: four characters each, and what a request lets the model write, or 256."""

    requests: int
    invalid: int
    tokens_in: int
    tokens_out: int
    cost_cents: Annotated[float | None, Field(description="Null if the price list lacks one of the models.")]
    unknown_models: Annotated[list[str], Field(description="Models that have no price.")]
    whole: Annotated[bool, Field(description="False: only the beginning was read, and the rest taken to be like it.")]


class Made(Answer):
    id: str
    job_id: str
    status: StatusName


class Batch(Answer):
    """Status, progress and error are told from the batch's jobs at the moment of the answer."""

    id: str
    title: str
    task_type: Literal["completion", "transcription"]
    provider: str
    models: list[str]
    status: StatusName
    tenant: str
    count: Annotated[int | None, Field(description="Requests, or inputs; null until they have been read.")]
    invalid: Annotated[int | None, Field(description="Those of them that cannot be asked.")]
    ok: Annotated[int | None, Field(description="Answers, once for each model; null until they are there.")]
    failed: Annotated[int | None, Field(description="Requests without an answer, once for each model.")]
    done: Annotated[int, Field(description="How many have been worked on so far.")]
    total: Annotated[int | None, Field(description="How many there are: requests by models.")]
    estimate_cents: float | None
    cost_cents: Annotated[float | None, Field(description="Null: not known, or not yet.")]
    has_results: bool
    result_bytes: int | None
    waiting_for: Annotated[str | None, Field(description="`provider`, `submit_unknown`, `budget`, `children`, …")]
    warning: str | None
    error: Annotated[str | None, Field(description="Why it failed.")]
    retry_of: Annotated[str | None, Field(description="The batch whose failures are asked again.")]
    job_id: Annotated[str | None, Field(description="The job that the status comes from; null: none is left.")]
    creator: str | None
    created_at: Moment


class ProviderJob(Answer):
    """An order: one model, one shard."""

    id: str
    provider: str
    model: str
    shard: Annotated[int, Field(description="Its place among the shards of its model, from 0; people are shown it from 1.")]
    state: ProviderStateName
    status: Annotated[str | None, Field(description="The provider's own word.")]
    count: Annotated[int, Field(description="Its requests.")]
    ok: Annotated[int | None, Field(description="Answers; null until they have been fetched.")]
    failed: Annotated[int | None, Field(description="Requests that it left without an answer.")]
    cost_cents: Annotated[float | None, Field(description="Null: not known, or not yet.")]
    external_id: str | None
    key: Annotated[str, Field(description="What the provider was told: look for it there if the state is `unknown`.")]
    polls: int
    transient_failures: Annotated[int, Field(description="Errors in a row; the third one fails it.")]
    answer: Annotated[dict[str, Any], Field(description="What the provider said last.")]
    error: str | None
    output_uri: str | None
    polled_at: Moment | None
    next_poll_at: Moment | None
    deadline: Moment | None
    submitted_at: Moment | None
    ended_at: Moment | None


class InvalidInput(Answer):
    line: Annotated[int, Field(description="From 1, empty lines left out.")]
    custom_id: str | None
    input: Annotated[str | None, Field(description="Of a transcription: as it may be shown.")] = None
    name: Annotated[str | None, Field(description="Of an uploaded file, whose id is the input.")] = None
    reason: str


class BatchDetail(Batch):
    dataset_ids: list[str]
    settings: dict[str, Any]
    provider_state: Annotated[
        dict[str, Any] | None, Field(description="As the state machine's page has it; null until something is submitted.")
    ]
    provider_jobs: list[ProviderJob]
    invalid_inputs: Annotated[list[InvalidInput], Field(description="The first hundred; the results have them all.")]


class LineError(Answer):
    code: str
    message: str


class PreviewLine(Answer):
    custom_id: Annotated[str | None, Field(description="Null: the line had none, or it is of a transcription.")]
    input: Annotated[str | None, Field(description="Of a transcription: as it may be shown.")] = None
    name: Annotated[str | None, Field(description="Of an uploaded file, whose id is the input.")] = None
    model: Annotated[str | None, Field(description="Null: it was not asked.")]
    text: Annotated[str | None, Field(description="What the model said; where that is not known, the whole answer as JSON.")]
    cut: Annotated[bool, Field(description="Whether there is more of the text.")]
    error: LineError | None


class Preview(Answer):
    lines: list[PreviewLine]
    more: Annotated[bool, Field(description="Whether there are lines that were not looked at.")]


class CancelledJobs(Answer):
    cancelled: Annotated[list[str], Field(description="Ids of the batch's jobs that were stopped.")]


class DeletedBatch(Answer):
    deleted: int


class Adoption(Request):
    external_id: Annotated[Text, Field(min_length=1, max_length=1000, description="The job's id at the provider.")]


class ProviderInfo(Answer):
    name: str
    task_types: list[str]
    text: str


class ProviderList(Answer):
    providers: list[ProviderInfo]


class CallbackTaken(Answer):
    """The job is looked at soon; what the message said of it is not believed."""

    taken: bool

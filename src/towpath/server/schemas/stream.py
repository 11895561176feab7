"""What the push stream sends: each message is the `data` of a server-sent event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from towpath.batches.schemas import Batch
from towpath.core.records import Event as EventRow
from towpath.core.records import Job as JobRow
from towpath.documents.schemas import Document, DocumentItem, DocumentRun
from towpath.fleet.schemas import FleetPresence, FleetTask
from towpath.recordings.schemas import Recording
from towpath.server.schemas.base import Answer
from towpath.server.schemas.events import Event, event_of
from towpath.server.schemas.jobs import Job, job_of


class JobMessage(Answer):
    """`event: job`. Something happened to a job."""

    job: Annotated[Job, Field(description="As it is now, which may be later than the events.")]
    events: Annotated[
        list[Event],
        Field(
            description="What happened, in order. Fields of more than 8 KiB are replaced by "
            "`{truncated: true, bytes: …}`; GET /api/jobs/{id}/events has them whole."
        ),
    ]


class DeletedMessage(Answer):
    """`event: deleted`. A job is gone, with its history."""

    id: str


class ResetMessage(Answer):
    """`event: reset`. The stream cannot go on from the given id, and goes on from now: load anew what you show."""

    reason: Annotated[
        Literal["unknown", "expired"],
        Field(description="`unknown`: not an id of this server's database. `expired`: more than a week old."),
    ]


class RecordingMessage(Recording):
    """`event: recording`. A recording as lists show it: it or one of its jobs has changed. Without an id of its own."""


class RecordingDeletedMessage(Answer):
    """`event: recording.deleted`. A recording is gone, with everything that was made of it. Without an id of its own."""

    id: str


class BatchMessage(Batch):
    """`event: batch`. A batch as lists show it: it or one of its jobs has changed. Without an id of its own."""


class BatchDeletedMessage(Answer):
    """`event: batch.deleted`. A batch is gone, with its results. Without an id of its own."""

    id: str


class DocumentRunMessage(DocumentRun):
    """`event: document_run`. A run as lists show it: it or one of its jobs has changed. Without an id of its own."""


class DocumentRunDeletedMessage(Answer):
    """`event: document_run.deleted`. A run is gone; the documents that it has read stay. Without an id of its own."""

    id: str


class DocumentItemMessage(DocumentItem):
    """`event: document_item`. An item of a run: its job has changed, such as by a step. Without an id of its own."""


class DocumentItemDeletedMessage(Answer):
    """`event: document_item.deleted`. An item is gone, with its run. Without an id of its own."""

    id: str


class DocumentMessage(Document):
    """`event: document`. A document is there, was read again, or can be found. Without an id of its own."""


class DocumentDeletedMessage(Answer):
    """`event: document.deleted`. A document is gone, with what was indexed of it. Without an id of its own."""

    id: str


class TaskMessage(FleetTask):
    """`event: task`. A task of the fleet: it, its job or its worker's progress has changed. Without an id of its own."""

    id: Annotated[str, Field(description="The same as `task_id`.")]


class FleetWorkerMessage(FleetPresence):
    """`event: fleet_worker`. A remote worker came or went, or another number of its slots is busy. For administrators, and
    without an id of its own."""


class FleetWorkerDeletedMessage(Answer):
    """`event: fleet_worker.deleted`. Nothing is known of a remote worker: it has spoken of a task before it told of itself.
    Without an id of its own."""

    id: str


class TaskDeletedMessage(Answer):
    """`event: task.deleted`. A task is gone, with its jobs. Without an id of its own."""

    id: str


StreamMessage = (
    JobMessage
    | DeletedMessage
    | ResetMessage
    | RecordingMessage
    | RecordingDeletedMessage
    | BatchMessage
    | BatchDeletedMessage
    | DocumentRunMessage
    | DocumentRunDeletedMessage
    | DocumentItemMessage
    | DocumentItemDeletedMessage
    | FleetWorkerMessage
    | FleetWorkerDeletedMessage
    | TaskMessage
    | TaskDeletedMessage
    | DocumentMessage
    | DocumentDeletedMessage
)
"""The server's own, and those of the products it brings along; other slices tell of their things as they like."""


def describe(job: JobRow, events: Sequence[EventRow]) -> str:
    """The data of a `job` message."""
    return JobMessage.model_construct(job=job_of(job), events=[event_of(event) for event in events]).model_dump_json()

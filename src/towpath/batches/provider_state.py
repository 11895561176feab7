"""`provider_state` as it is documented, told from the rows: one job object for each order.

The view `batch_state` in `migrations/functions.*.sql` says the same in SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from towpath import ProviderJob, ProviderState
from towpath.batches.names import TRANSCRIPTION
from towpath.batches.records import Batch
from towpath.batches.speech_state import SpeechState, speech_state

_ENDED = {
    ProviderState.COMPLETED: "COMPLETED",
    ProviderState.PARTIAL: "PARTIAL_COMPLETE",
    ProviderState.FAILED: "FAILED",
    ProviderState.CANCELLED: "CANCELLED",
}


class CompletionJob(BaseModel):
    """`status` is SUBMITTED, then the provider's own word, then COMPLETED, PARTIAL_COMPLETE, FAILED or CANCELLED."""

    model_config = ConfigDict(extra="forbid")

    model: str
    status: str
    external_job_id: str | None
    """None for an order that the provider refused."""
    output_uri: str | None = None
    error: str | None = None
    transient_failures: int = 0


class CompletionState(BaseModel):
    model_config = ConfigDict(extra="forbid")

    task_type: Literal["completion"] = "completion"
    input_dataset_ids: list[str]
    jobs: list[CompletionJob]


def state_of(batch: Batch, ordered: Sequence[ProviderJob]) -> CompletionState | SpeechState | None:
    """None until something of it is at a provider."""
    shown = [row for row in ordered if row.external_id is not None or row.state.ended]
    if not shown:
        return None
    if batch.task_type == TRANSCRIPTION:
        return speech_state(batch, shown, status_of)
    return CompletionState(input_dataset_ids=list(batch.dataset_ids), jobs=[_job(row) for row in shown])


def as_json(state: CompletionState | SpeechState) -> dict[str, Any]:
    """Without what is not set, as it is documented; an id is always there."""
    told = state.model_dump(exclude_none=True)
    for job in told["jobs"]:
        job.setdefault("external_job_id", None)
    return told


def status_of(row: ProviderJob) -> str:
    return _ENDED.get(row.state) or row.status or "SUBMITTED"


def _job(row: ProviderJob) -> CompletionJob:
    return CompletionJob(
        model=row.model, status=status_of(row), external_job_id=row.external_id, output_uri=row.output_uri,
        error=row.error, transient_failures=row.transient_failures,
    )  # fmt: skip

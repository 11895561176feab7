"""`provider_state` of transcriptions, in the shape that is documented for each provider.

What was said is in the batch's results: `result` says where those are, and how many of the order's files are in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from towpath import ProviderJob, ProviderState
from towpath.batches.records import Batch

_WITH_RESULTS = frozenset({ProviderState.COMPLETED, ProviderState.PARTIAL})
_BETWEEN = ", "


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SpeechJob(_Shape):
    """`status` is SUBMITTED, then the provider's own word, then COMPLETED, PARTIAL_COMPLETE, FAILED or CANCELLED."""

    external_job_id: str | None
    """None for an order that the provider refused."""
    status: str
    result: list[dict[str, Any]] | None = None
    error: str | None = None


class AzureJob(SpeechJob):
    pass


class SarvamJob(SpeechJob):
    transient_failures: int = 0


class AwsJob(SpeechJob):
    gcs_uri: str
    """Where its file came from, as it may be shown: an address, or the id of an uploaded file."""
    filename: str
    transient_failures: int = 0


class GoogleJob(SpeechJob):
    model: str
    transient_failures: int = 0


class SpeechState(_Shape):
    task_type: Literal["transcription"] = "transcription"
    provider: str
    dataset_ids: list[str]
    invalid_urls: list[str]
    """The first hundred; the results have them all, with the reasons."""
    jobs: Sequence[SpeechJob]


class AzureState(SpeechState):
    jobs: list[AzureJob]


class SarvamState(SpeechState):
    gcs_map: dict[str, str]
    """Where the files of each job came from; several are separated by `, `."""
    jobs: list[SarvamJob]


class AwsState(SpeechState):
    jobs: list[AwsJob]


class GoogleState(SpeechState):
    jobs: list[GoogleJob]


_SHAPES: dict[str, tuple[type[SpeechState], type[SpeechJob]]] = {
    "AZURE": (AzureState, AzureJob), "SARVAM": (SarvamState, SarvamJob), "AWS": (AwsState, AwsJob),
    "GOOGLE": (GoogleState, GoogleJob),
}  # fmt: skip
_OTHERS = (GoogleState, GoogleJob)
"""A provider that somebody has added: a job for each model."""


def speech_state(batch: Batch, rows: Sequence[ProviderJob], status_of: Callable[[ProviderJob], str]) -> SpeechState:
    shape, job = _SHAPES.get(batch.provider, _OTHERS)
    told: dict[str, Any] = {
        "provider": batch.provider, "dataset_ids": list(batch.dataset_ids),
        "invalid_urls": [one.get("input") or "" for one in batch.invalid_inputs],
        "jobs": [job.model_validate(_only(job, _fields(batch, row, status_of(row)))) for row in rows],
    }  # fmt: skip
    if "gcs_map" in shape.model_fields:
        told["gcs_map"] = {row.external_id: _BETWEEN.join(_sources(row)) for row in rows if row.external_id}
    return shape(**told)


def _fields(batch: Batch, row: ProviderJob, status: str) -> dict[str, Any]:
    first = (_inputs(row) or [[""] * 6])[0]
    return {
        "external_job_id": row.external_id, "status": status, "result": _result(batch, row), "error": row.error,
        "transient_failures": row.transient_failures, "model": row.model, "gcs_uri": first[5] or "", "filename": first[1],
    }  # fmt: skip


def _only(job: type[SpeechJob], fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in job.model_fields}


def _result(batch: Batch, row: ProviderJob) -> list[dict[str, Any]] | None:
    if row.state not in _WITH_RESULTS:
        return None
    counts = row.answer.get("counts") or {}
    told = {name: counts[name] for name in ("completed", "failed") if counts.get(name) is not None}
    return [{"uri": f"/api/batches/{batch.id}/results", **told}]


def _sources(row: ProviderJob) -> list[str]:
    return [one[5] or "" for one in _inputs(row)]


def _inputs(row: ProviderJob) -> list[list[Any]]:
    """Those that stand in the row: many, or links that open them, are a blob beside it."""
    inputs = row.order.get("inputs")
    return inputs if isinstance(inputs, list) else []

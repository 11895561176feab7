"""Rows of this slice as Python values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from towpath import Row, State, from_json, moment


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job that is gone had ended."""

    job_id: str
    state: State
    error: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """What was asked for, and what is known of it. Its status is not here: see `status.py`."""

    id: str
    tenant: str
    lane: str
    title: str
    task_type: str
    provider: str
    models: tuple[str, ...]
    settings: dict[str, Any]
    dataset_ids: tuple[str, ...]
    count: int | None
    invalid: int | None
    ok: int | None
    failed: int | None
    invalid_inputs: list[dict[str, Any]]
    """The first of those that cannot be asked: `line`, `custom_id`, `reason`, and of transcriptions `input`."""
    estimate_cents: float | None
    cost_cents: float | None
    result_bytes: int | None
    retry_of: str | None
    created_by: str | None
    creator: str | None
    created_at: datetime
    ended: Ended | None = None
    """The newest of its jobs that are gone."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A stored list of inputs: lines of its own, those of an uploaded file, or those at an address until they are read."""

    id: str
    tenant: str
    name: str
    asset_id: str | None
    source: str | None
    """The address they come from, as it may be shown."""
    batch_id: str | None
    """The batch that it came with; None: it was made by itself."""
    created_at: datetime


def batch_from(row: Row) -> Batch:
    return Batch(
        row["id"], row["tenant"], row["lane"], row["title"], row["task_type"], row["provider"],
        tuple(from_json(row["models"])), from_json(row["settings"]), tuple(from_json(row["dataset_ids"])), row["count"],
        row["invalid"], row["ok"], row["failed"], from_json(row["invalid_inputs"]) or [], row["estimate_cents"],
        row["cost_cents"], row["result_bytes"], row["retry_of"], row["created_by"], row["creator"],
        moment(row["created_at"]), _ended_from(row),
    )  # fmt: skip


def _ended_from(row: Row) -> Ended | None:
    if row["last_job"] is None:
        return None
    return Ended(row["last_job"], State(row["last_state"]), from_json(row["last_error"]))


def dataset_from(row: Row) -> Dataset:
    return Dataset(
        row["id"], row["tenant"], row["name"], row["asset_id"], row["source"], row["batch_id"], moment(row["created_at"])
    )  # fmt: skip

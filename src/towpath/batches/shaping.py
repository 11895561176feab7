"""Views and rows as the API's shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import towpath
from towpath.batches import provider_state, schemas
from towpath.batches.views import BatchView

_SAME = (
    "id", "title", "task_type", "provider", "tenant", "count", "invalid", "ok", "failed", "estimate_cents", "cost_cents",
    "result_bytes", "retry_of", "creator", "created_at",
)  # fmt: skip
_TOLD = ("ok", "failed", "cost_cents")
_OF_ORDERS = tuple(name for name in schemas.ProviderJob.model_fields if name not in ("state", "count", *_TOLD))


def batch_fields(view: BatchView) -> dict[str, Any]:
    told = {name: getattr(view.batch, name) for name in _SAME}
    return told | {
        "models": [model for model in view.batch.models if model],
        "status": view.status, "done": view.done, "total": view.total,
        "has_results": view.batch.result_bytes is not None, "waiting_for": view.waiting_for, "warning": view.warning,
        "error": view.error, "job_id": view.job.id if view.job is not None else None,
    }  # fmt: skip


def batch_shape(view: BatchView) -> schemas.Batch:
    return schemas.Batch(**batch_fields(view))


def detail_shape(view: BatchView) -> schemas.BatchDetail:
    state = provider_state.state_of(view.batch, view.ordered)
    return schemas.BatchDetail(
        **batch_fields(view),
        dataset_ids=list(view.batch.dataset_ids),
        settings=view.batch.settings,
        provider_state=provider_state.as_json(state) if state is not None else None,
        provider_jobs=[order_shape(row, outcome) for row, outcome in zip(view.ordered, outcomes(view), strict=True)],
        invalid_inputs=[schemas.InvalidInput(**one) for one in view.batch.invalid_inputs],
    )


def outcomes(view: BatchView) -> list[Mapping[str, Any]]:
    """What came of each order, as the job that ordered them has it in its result."""
    result = view.job.result if view.job is not None else None
    told = result.get("orders") if isinstance(result, dict) else None
    return [told[row.part] if told and row.part < len(told) else {} for row in view.ordered]


def order_shape(row: towpath.ProviderJob, outcome: Mapping[str, Any] | None = None) -> schemas.ProviderJob:
    told = {name: getattr(row, name) for name in _OF_ORDERS}
    told |= {"state": row.state.value, "count": row.order.get("count") or 0}
    return schemas.ProviderJob.model_validate(told | {name: (outcome or {}).get(name) for name in _TOLD})

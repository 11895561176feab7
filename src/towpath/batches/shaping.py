"""Views and rows as the API's shapes."""

from __future__ import annotations

from typing import Any

import towpath
from towpath.batches import provider_state, schemas
from towpath.batches.views import BatchView

_SAME = (
    "id", "title", "task_type", "provider", "tenant", "count", "invalid", "ok", "failed", "estimate_cents", "cost_cents",
    "result_bytes", "retry_of", "creator", "created_at",
)  # fmt: skip
_OF_ORDERS = tuple(name for name in schemas.ProviderJob.model_fields if name != "state")


def batch_fields(view: BatchView) -> dict[str, Any]:
    told = {name: getattr(view.batch, name) for name in _SAME}
    return told | {
        "models": list(view.batch.models), "status": view.status, "done": view.done, "total": view.total,
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
        provider_jobs=[order_shape(row) for row in view.ordered],
        invalid_inputs=[schemas.InvalidInput(**one) for one in view.batch.invalid_inputs],
    )


def order_shape(row: towpath.ProviderJob) -> schemas.ProviderJob:
    told = {name: getattr(row, name) for name in _OF_ORDERS}
    return schemas.ProviderJob.model_validate(told | {"state": row.state.value})

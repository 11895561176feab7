"""Views and rows as the API's shapes."""

from __future__ import annotations

from typing import Any

from towpath import Event, Prospect
from towpath.documents import schemas
from towpath.documents.records import Document, Item
from towpath.documents.run_views import RunView
from towpath.documents.views import ItemView
from towpath.outbound.sources import shown

_OF_RUNS = ("id", "title", "kind", "tenant", "priority", "count", "creator", "created_at")
_OF_ITEMS = ("id", "run_id", "number", "name", "tenant", "document_id")
_OF_VIEWS = (
    "status",
    "step",
    "attempt",
    "reused",
    "superseded",
    "waiting_for",
    "retry_at",
    "job_id",
    "started_at",
    "finished_at",
)
_OF_STEPS = tuple(name for name in schemas.ItemStep.model_fields if name != "step")
_OF_DOCUMENTS = tuple(name for name in schemas.Document.model_fields if name not in ("indexed", "source"))
_EVENTS = {
    "step.started": "step_started", "step.completed": "step_completed", "step.failed": "step_failed",
    "step.rate_limited": "retry_scheduled", "job.retry_scheduled": "retry_scheduled", "job.retry_later": "retry_scheduled",
}  # fmt: skip


def run_shape(view: RunView) -> schemas.DocumentRun:
    counts, prospect, job = view.counts, view.prospect, view.job
    told: dict[str, Any] = {name: getattr(view.run, name) for name in _OF_RUNS}
    told |= {
        "status": view.status, "settings": _shown_settings(view.run.settings), "counts": counts.items,
        "waiting": counts.waiting, "budget": _money(view),
        "steps": [schemas.StepCount(**{name: getattr(one, name) for name in schemas.StepCount.model_fields})
                  for one in counts.steps],
        "tokens_in": counts.total("tokens_in"), "tokens_out": counts.total("tokens_out"),
        "cost_cents": counts.total("cost_cents"), "position": prospect.position if prospect else None,
        "eta": _eta(prospect), "eta_reason": prospect.reason if prospect else None,
        "waiting_for": view.waiting_for, "error": view.error,
        "warning": view.warning, "job_id": job.id if job else None,
        "finished_at": job.finished_at if job and job.ended else None,
    }  # fmt: skip
    return schemas.DocumentRun(**told)


def _eta(prospect: Prospect | None) -> schemas.RunEta | None:
    return schemas.RunEta(low=prospect.eta[0], high=prospect.eta[1]) if prospect and prospect.eta else None


def _money(view: RunView) -> schemas.RunMoney | None:
    limit = view.counts.budget
    return None if limit is None else schemas.RunMoney(limit_cents=limit.limit, spent_cents=limit.spent)


def _shown_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Addresses without what stands behind their question marks."""
    remote = settings.get("remote")
    return settings | ({"remote": {name: url and shown(url) for name, url in remote.items()}} if remote else {})


def source_shown(row: Item | Document) -> str:
    if row.address:
        return shown(row.address)
    return row.source.removeprefix("file:") if row.source.startswith("file:") else row.name


def item_shape(view: ItemView) -> schemas.DocumentItem:
    item, error = view.item, view.error
    told: dict[str, Any] = {name: getattr(item, name) for name in _OF_ITEMS}
    told |= {name: view.total(name) for name in ("duration_ms", "tokens_in", "tokens_out", "cost_cents")}
    told |= {name: getattr(view, name) for name in _OF_VIEWS}
    told |= {
        "source": source_shown(item), "position": view.prospect.position if view.prospect else None,
        "eta": _eta(view.prospect), "eta_reason": view.prospect.reason if view.prospect else None,
        "model": next((one.model for one in reversed(view.steps) if one.model), None),
        "steps": [schemas.ItemStep(step=one.name, **{name: getattr(one, name) for name in _OF_STEPS}) for one in view.steps],
        "error": None if not error else schemas.ItemError(
            category=error.get("kind", "fatal"), error_class=error.get("error_class", ""), message=error.get("message", ""),
            remedy=error.get("remedy"), step=view.failed_step,
        ),
    }  # fmt: skip
    return schemas.DocumentItem(**told)


def event_shape(event: Event) -> schemas.ItemEvent:
    fields = event.fields or {}
    assert event.ts is not None
    known = {name: fields.get(name) for name in ("step", "model", "tokens_in", "tokens_out", "cost_cents")}
    return schemas.ItemEvent(
        seq=event.seq, kind=_EVENTS.get(event.name, event.name), name=event.name, category=fields.get("kind"),
        message=event.message, attempt=event.attempt, at=event.ts, **known,
    )  # fmt: skip


def document_shape(document: Document) -> schemas.Document:
    told = {name: getattr(document, name) for name in _OF_DOCUMENTS}
    return schemas.Document(**told, indexed=document.is_indexed, source=source_shown(document))

"""A batch as OpenAI tells it. Its status is told from the batch's jobs, like the one that people see here."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from towpath import State
from towpath.batches import status
from towpath.batches.names import OPENAI_FILE
from towpath.batches.openai_lines import ENDPOINT
from towpath.batches.views import BatchView
from towpath.openai_api.ids import FileRef, batch_name
from towpath.openai_api.shapes import seconds

_WINDOW = re.compile(r"([1-9][0-9]{0,3})([hd])")
_WITH_FILES = ("completed", "expired", "cancelled")
ENDED = ("completed", "failed", "expired", "cancelled")


def batch_object(view: BatchView) -> dict[str, Any]:
    batch = view.batch
    asked = batch.settings[OPENAI_FILE]
    word = status_of(view)
    return {
        "id": batch_name(batch.id), "object": "batch", "endpoint": ENDPOINT,
        "model": batch.models[0] if len(batch.models) == 1 else None,
        "errors": {"object": "list", "data": _errors(view)} if word == "failed" else None,
        "input_file_id": asked["input_file_id"], "completion_window": asked["completion_window"], "status": word,
        "output_file_id": str(FileRef("output", batch.id)) if batch.ok and word in _WITH_FILES else None,
        "error_file_id": str(FileRef("error", batch.id)) if batch.failed and word in _WITH_FILES else None,
        "request_counts": _counts(view), "metadata": asked["metadata"], **_moments(view, word, asked["completion_window"]),
    }  # fmt: skip


def status_of(view: BatchView) -> str:
    batch = view.batch
    match view.status:
        case status.PENDING if batch.count is None:
            return "validating"
        case status.PENDING | status.IN_PROGRESS:
            return "finalizing" if _is_finalizing(view) else "in_progress"
        case status.CANCELLED:
            return "cancelling" if view.job is not None and view.job.leased else "cancelled"
        case status.FAILED if any(row.status == "expired" for row in view.ordered):
            return "expired"
        case status.FAILED if batch.ok != 0:  # not read, not merged, or broken off after that
            return "failed"
    return "completed"  # whatever became of the single requests: the files say it


def _is_finalizing(view: BatchView) -> bool:
    """Its job runs again, and everything that was asked has ended."""
    if view.job is None or view.job.state is not State.RUNNING:
        return False
    return view.job.children_total > 0 or (bool(view.ordered) and all(row.ended_at is not None for row in view.ordered))


def _counts(view: BatchView) -> dict[str, int]:
    batch = view.batch
    failed = batch.failed or 0
    done = batch.ok if batch.ok is not None else max(0, view.done - failed)
    return {"total": batch.count or 0, "completed": done, "failed": failed}


def _errors(view: BatchView) -> list[dict[str, Any]]:
    told = [
        {"code": one.get("code"), "line": one["line"], "message": one["reason"], "param": one.get("param")}
        for one in view.batch.invalid_inputs
    ]
    if told:
        return told
    code = "empty_file" if view.batch.count == 0 else "batch_failed"
    return [{"code": code, "line": None, "message": view.error or "no reason was given", "param": None}]


def _moments(view: BatchView, word: str, window: str) -> dict[str, int | None]:
    created = view.batch.created_at
    found = _WINDOW.fullmatch(window)
    most = timedelta(**{"hours" if found[2] == "h" else "days": int(found[1])}) if found is not None else None
    begun = view.job.started_at if view.job is not None and view.batch.count is not None else None
    ended = seconds(view.job.finished_at) if view.job is not None else None
    ends = [row.ended_at for row in view.ordered if row.ended_at is not None]
    merging = max(ends) if ends and word in ("finalizing", "completed") else None
    return {
        "created_at": seconds(created), "in_progress_at": seconds(begun) if word != "failed" else None,
        "expires_at": seconds(created + most) if most is not None else None, "finalizing_at": seconds(merging),
        "completed_at": ended if word == "completed" else None, "failed_at": ended if word == "failed" else None,
        "expired_at": ended if word == "expired" else None,
        "cancelling_at": ended if word in ("cancelling", "cancelled") else None,
        "cancelled_at": ended if word == "cancelled" else None,
    }  # fmt: skip

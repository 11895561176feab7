"""Work that takes longer than a call: its job is answered with how far it is, after waiting a little for its end."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

from pydantic import Field

from towpath.assistants.api import Refused
from towpath.assistants.tool import Call

LONGEST = 50.0
_LOOK_EVERY = 0.5
_ENDED = ("succeeded", "partial", "failed", "cancelled")
_OF_JOBS = ("id", "operation", "state", "reason", "progress", "children", "error", "created_at", "started_at", "finished_at")

Wait = Annotated[
    float, Field(ge=0, le=LONGEST, description="Seconds to wait for its end before it is answered how far it is.")
]


async def job_with_progress(call: Call, job_id: str, wait: float) -> dict[str, Any]:
    """The job and what it works on. Whoever waits is told whenever something has changed."""
    until = time.monotonic() + wait
    told: tuple[Any, ...] | None = None
    while True:
        job = await call.api.get(f"/api/jobs/{job_id}")
        said = _progress(job)
        if said != told:
            told = said
            await call.report(*said)
        left = until - time.monotonic()
        if job["state"] in _ENDED or left <= 0:
            return await _shown(call, job)
        await asyncio.sleep(min(_LOOK_EVERY, left))


def _progress(job: dict[str, Any]) -> tuple[float, float | None, str]:
    words = f"{job['state']}: {job['reason']}" if job["reason"] else job["state"]
    if job["children"]:
        total = float(job["children"]["total"])
        return total - job["children"]["open"], total, words
    if job["progress"]:
        return job["progress"]["current"], job["progress"]["total"], words
    return (1.0 if job["state"] in _ENDED else 0.0), 1.0, words


async def _shown(call: Call, job: dict[str, Any]) -> dict[str, Any]:
    shown = {name: job[name] for name in _OF_JOBS if job[name] is not None}
    shown["job_id"] = shown.pop("id")
    explanation = job.get("explanation")
    if job["state"] not in _ENDED and explanation:
        shown["why"] = explanation.get("sentence")
    subject = job["subject"]
    if subject is None:
        return shown | ({"result": job["result"]} if job["state"] in _ENDED and not job["result_truncated"] else {})
    return shown | await _subject(call, subject["kind"], subject["id"], ended=job["state"] in _ENDED)


async def _subject(call: Call, kind: str, subject_id: str, *, ended: bool) -> dict[str, Any]:
    """What products say of the thing that the job works on. A thing that was deleted leaves its job."""
    look = _LOOKS.get(kind)
    if look is None:
        return {"subject": {"kind": kind, "id": subject_id}}
    try:
        return await look(call, subject_id, ended)
    except Refused:
        return {"subject": {"kind": kind, "id": subject_id, "gone": True}}


async def _run(call: Call, run_id: str, ended: bool) -> dict[str, Any]:
    run = await call.api.get(f"/api/documents/runs/{run_id}")
    kept = ("id", "title", "status", "counts", "eta", "waiting_for", "warning", "error")
    told: dict[str, Any] = {"run": {name: run[name] for name in kept if run[name] is not None}}
    if ended:
        items = (await call.api.get(f"/api/documents/runs/{run_id}/items", limit=50))["items"]
        told["documents"] = [
            {"name": one["name"], "status": one["status"], "document_id": one["document_id"],
             "error": one["error"] and one["error"]["message"]} for one in items
        ]  # fmt: skip
    return told


async def _recording(call: Call, recording_id: str, _: bool) -> dict[str, Any]:
    found = await call.api.get(f"/api/recordings/{recording_id}")
    kept = ("id", "title", "status", "duration", "language", "warning", "error")
    return {"recording": {name: found[name] for name in kept if found.get(name) is not None}}


async def _batch(call: Call, batch_id: str, ended: bool) -> dict[str, Any]:
    found = await call.api.get(f"/api/batches/{batch_id}")
    kept = ("id", "title", "status", "done", "total", "waiting_for", "warning", "error")
    told: dict[str, Any] = {"batch": {name: found[name] for name in kept if found[name] is not None}}
    if found["has_results"]:
        lines = (await call.api.get(f"/api/batches/{batch_id}/preview", limit=10))["lines"]
        told["results"] = [{name: one[name] for name in ("input", "name", "text", "cut", "error")} for one in lines]
    return told


_LOOKS = {"document_run": _run, "recording": _recording, "batch": _batch}

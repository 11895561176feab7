"""Jobs: how far something is, and stopping it."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from towpath.assistants.tool import Arguments, Call, Tool
from towpath.assistants.tools.waiting import Wait, job_with_progress

Id = Annotated[str, Field(min_length=1, max_length=100, description="As ingest and transcribe have answered it.")]


class JobStatus(Arguments):
    job_id: Id
    wait_seconds: Wait = 0.0


class CancelJob(Arguments):
    job_id: Id


async def job_status(call: Call, asked: JobStatus) -> dict[str, Any]:
    return await job_with_progress(call, quote(asked.job_id, safe=""), asked.wait_seconds)


async def cancel_job(call: Call, asked: CancelJob) -> dict[str, Any]:
    done = await call.api.post(f"/api/jobs/{quote(asked.job_id, safe='')}/cancel")
    return {"job_id": asked.job_id, "was": done["was"], "cancelled": len(done["cancelled"])}


TOOLS = (
    Tool(
        "job_status", "See how far a job is",
        "How a job stands, what it waits for, how far it is, and in the end what came of it: documents and why some could "
        "not be read, or what was said. Wait with wait_seconds rather than asking again and again.",
        JobStatus, job_status,
    ),
    Tool(
        "cancel_job", "Cancel a job", "Stops a job and its children. What is done already stays.", CancelJob, cancel_job,
        changes=True, undoes=True,
    ),
)  # fmt: skip

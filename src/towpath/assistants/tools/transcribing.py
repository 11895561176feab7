"""Transcribe: audio and video at addresses, or files of the assistant's own machine, become text."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from towpath.assistants.api import Refused
from towpath.assistants.tool import Arguments, Call, Tool
from towpath.assistants.tools.waiting import Wait, job_with_progress


class Transcribe(Arguments):
    urls: Annotated[
        list[str] | None,
        Field(max_length=100, description="Addresses of audio or video: https://…, or objects of buckets."),
    ] = None
    file: Annotated[
        str | None, Field(description="A file on this machine, where the assistant was allowed any (stdio only).")
    ] = None
    language: Annotated[str | None, Field(max_length=35, description="What is spoken, such as en.")] = None
    wait_seconds: Wait = 10.0


async def transcribe(call: Call, asked: Transcribe) -> dict[str, Any]:
    if bool(asked.urls) == bool(asked.file):
        raise Refused("give urls or file, one of the two")
    if asked.file:
        return await _recording(call, asked, asked.file)
    wanted = {"provider": "LOCAL", "inputs": asked.urls, "locale": asked.language}
    made = await call.api.post("/api/batches/transcription", wanted)
    told = {"batch_id": made["id"], "job_id": made["job_id"]}
    return told | await job_with_progress(call, made["job_id"], asked.wait_seconds)


async def _recording(call: Call, asked: Transcribe, name: str) -> dict[str, Any]:
    """A file becomes a recording, which can be searched and played."""
    path = call.files.checked(name)
    options = {"language": asked.language} if asked.language else {}
    made = await call.api.upload(path.name, path, "recording", **options)
    told = {"recording_id": made["id"], "job_id": made["job_id"]}
    return told | await job_with_progress(call, made["job_id"], asked.wait_seconds)


TOOLS = (
    Tool(
        "transcribe", "Transcribe audio or video",
        "Turns speech into text. Answers the job and how far it is; what was said is in job_status once it is done, and of "
        "a file in read_transcript and search.",
        Transcribe, transcribe, changes=True,
    ),
)  # fmt: skip

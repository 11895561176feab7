"""The summary of a recording: by a chat model where one is configured, else of the transcript's own sentences."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from towpath.core.errors import SchemaInvalid
from towpath.engine.context import Context
from towpath.models import summaries
from towpath.recordings import keeping
from towpath.recordings.saving import NewSummary, save_summary
from towpath.recordings.transcribing import gone, recording_for


@dataclass(slots=True)
class Asked:
    """The payload of summarize and reprocess_summary."""

    recording_id: str


async def summarize(ctx: Context, asked: Asked) -> dict[str, Any]:
    recording = await recording_for(ctx, asked.recording_id)
    if recording.transcript_id is None:
        raise SchemaInvalid("there is no transcript to summarise", remedy="transcribe the recording first")
    made = await ctx.step("summarize", _summarize, ctx, recording.transcript_id)
    await ctx.step("save", _save, ctx, recording.id, recording.transcript_id, made)
    return {"recording_id": recording.id, "method": made["method"], "model": made["model"]}


async def _summarize(ctx: Context, transcript_id: str) -> dict[str, Any]:
    began = time.monotonic()
    lines = await keeping.lines_of(ctx.services.store, transcript_id)
    text = " ".join(line.text for line in lines)
    if not text.strip():
        raise SchemaInvalid("the transcript is empty, so there is nothing to summarise")
    summary = await summaries.summarize(ctx.services.settings, text)
    await ctx.meter(model=summary.model, tokens_in=summary.tokens_in, tokens_out=summary.tokens_out)
    return {
        "text": summary.text, "method": summary.method, "model": summary.model, "tokens_in": summary.tokens_in,
        "tokens_out": summary.tokens_out, "took_seconds": round(time.monotonic() - began, 3),
    }  # fmt: skip


async def _save(ctx: Context, recording_id: str, transcript_id: str, made: dict[str, Any]) -> None:
    new = NewSummary(recording_id=recording_id, transcript_id=transcript_id, cost_cents=None, **made)
    if not await save_summary(ctx, new):
        raise gone(recording_id)

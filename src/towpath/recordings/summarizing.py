"""The summary of a recording: by a chat model where one is configured, else of the transcript's own sentences."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from towpath import Context, SchemaInvalid, choices
from towpath.recordings import stored, templates
from towpath.recordings.records import Line, Recording
from towpath.recordings.saving import NewSummary, save_summary
from towpath.recordings.transcribing import gone, recording_for


@dataclass(slots=True)
class Asked:
    """The payload of summarize and reprocess_summary."""

    recording_id: str


async def summarize(ctx: Context, asked: Asked) -> dict[str, Any]:
    from towpath.models import chat, summaries  # only where summaries are made

    began = time.monotonic()
    recording = await recording_for(ctx, asked.recording_id)
    read = await ctx.step("read", _read, ctx, recording)
    settings = await choices.settings_in(ctx)
    client = chat.client_for(settings)
    asking = _Asking(ctx, None if client is None else client.budget)
    summary = await summaries.summarize(settings, read["text"], task=read["prompt"], step=asking)
    new = NewSummary(
        recording_id=recording.id, transcript_id=read["transcript_id"], text=summary.text, method=summary.method,
        template=read["template"] if summary.method == "chat" else None,
        model=summary.model, tokens_in=summary.tokens_in, tokens_out=summary.tokens_out,
        cost_cents=0.0 if summary.method == "extractive" else None,  # a service is priced when somebody asks
        took_seconds=round(time.monotonic() - began, 3),
    )  # fmt: skip
    await ctx.step("save", _save, ctx, new)
    return {"recording_id": recording.id, "method": summary.method, "model": summary.model, "parts": summary.parts}


async def _read(ctx: Context, recording: Recording) -> dict[str, str | None]:
    """A step, so that all parts are of one text, and by one template: somebody may change them while a service makes us
    wait."""
    if recording.transcript_id is None:
        raise SchemaInvalid("there is no transcript to summarise", remedy="transcribe the recording first")
    lines = await stored.lines_of(ctx, recording.transcript_id)
    template = await templates.find(ctx, recording.tenant, recording.template)
    text = " ".join(line.text for line in lines) if template is None else _by_speaker(lines)
    if not text.strip():
        raise SchemaInvalid("the transcript is empty, so there is nothing to summarise")
    name, prompt = (None, None) if template is None else (template.name, template.prompt)
    return {"transcript_id": recording.transcript_id, "text": text, "template": name, "prompt": prompt}


def _by_speaker(lines: Sequence[Line]) -> str:
    """A paragraph for each turn, with who speaks: minutes and tasks are about people."""
    turns = [(speaker, " ".join(line.text for line in said)) for speaker, said in groupby(lines, lambda line: line.speaker)]
    return "\n".join(text if speaker is None else f"{speaker}: {text}" for speaker, text in turns)


class _Asking:
    """Each question to a chat model is a step: after a crash or a rate limit, what was answered is not asked again."""

    def __init__(self, ctx: Context, budget: str | None) -> None:
        self._ctx, self._budget = ctx, budget

    async def __call__(self, name: str, ask: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        answer: dict[str, Any] = await self._ctx.step(name, self._metered, ask)
        return answer

    async def _metered(self, ask: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        if self._budget is not None:
            await self._ctx.budget(self._budget)  # another job may have been told to wait
        answer = await ask()
        await self._ctx.meter(
            model=answer.get("model"), tokens_in=answer.get("tokens_in"), tokens_out=answer.get("tokens_out")
        )
        return answer


async def _save(ctx: Context, new: NewSummary) -> None:
    if not await save_summary(ctx, new):
        raise gone(new.recording_id)

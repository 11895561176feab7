"""Results on their way into the tables: fenced by the job that made them, and replacing what was there in one commit.

What people corrected in the transcript that is replaced goes over to the new one; see edits.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from towpath import Context, Transaction, plain_text, to_json
from towpath.recordings.edits import edits_in, laid_onto
from towpath.recordings.intake import queue_summary
from towpath.recordings.learning import CLOSING, SUMMARIES, learn
from towpath.recordings.live import LONGEST_LINE
from towpath.recordings.names import SUMMARIZE
from towpath.recordings.records import Edit, edit_from, line_from, recording_from
from towpath.recordings.speaking import Turn, carried


@dataclass(frozen=True, slots=True)
class NewTranscript:
    recording_id: str
    engine: str
    language: str | None
    lines: Sequence[Sequence[Any]]
    """[start, end, number of the speaker or None, text, place of the voice or None] each."""
    duration: float
    took_seconds: float | None
    cost_cents: float | None = None
    replace_edits: bool = False
    """Whether what people corrected is dropped, because they said so."""
    heard_at: datetime | None = None
    """When the last part of it was."""
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class NewSummary:
    recording_id: str
    transcript_id: str
    text: str
    method: str
    template: str | None
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_cents: float | None
    took_seconds: float | None


async def save_transcript(ctx: Context, new: NewTranscript, *, summarize: bool) -> bool:
    """Puts the transcript in the place of the old one and queues the summary with it; False if the recording is gone.

    The transcript has the job's id: saving it again, after a crash before the step was recorded, gives the same.
    """

    async def unit(tx: Transaction) -> bool:
        rows = await tx.query("recording_lock", id=new.recording_id)
        if not rows:
            return False
        recording = recording_from(rows[0])
        edits = await _edits(tx, new, before=recording.transcript_id, now=ctx.id)
        await _put(tx, ctx.id, new, await _speakers(tx, new, recording.transcript_id))
        await _put_edits(tx, ctx.id, new, edits)
        if new.heard_at is not None:
            await learn(tx, CLOSING, 1.0, (tx.now - new.heard_at).total_seconds())
        if summarize:
            await queue_summary(tx, recording, SUMMARIZE, ctx.priority)
        return True

    return await ctx.transact(unit)


async def _edits(tx: Transaction, new: NewTranscript, *, before: str | None, now: str) -> list[Edit]:
    """What people have corrected so far, also while it was being heard, and what found no place the last time."""
    if new.replace_edits and before != now:
        return []
    lines = [line_from(row) for row in await tx.query("corrected_lines", id=new.recording_id)]
    return edits_in(lines) + [edit_from(row) for row in await tx.query("unplaced_edits", recording_id=new.recording_id)]


async def _speakers(tx: Transaction, new: NewTranscript, before: str | None) -> list[int | None]:
    """The number of who says each line: as before, wherever people have said something of it."""
    told = [Turn(line[0], line[1], line[2]) for line in new.lines]
    rows = await tx.query("transcript_lines", id=before) if before is not None else []
    rows = rows or await tx.query("corrected_lines", id=new.recording_id)
    old = [Turn(line.start, line.end, line.who) for line in map(line_from, rows)]
    said = await tx.query("speakers_said", recording_id=new.recording_id)
    return carried(told, old, frozenset(row["number"] for row in said))


async def _put(tx: Transaction, transcript_id: str, new: NewTranscript, speakers: Sequence[int | None]) -> None:
    ids = [new.recording_id]
    await tx.change(
        "recording_has_transcript", id=new.recording_id, transcript_id=transcript_id, duration=new.duration
    )  # fmt: skip
    for query in ("transcript_lines_delete", "transcripts_delete", "unplaced_edits_delete"):
        await tx.change(query, ids=ids)
    await tx.change(
        "transcript_add", id=transcript_id, recording_id=new.recording_id, engine=new.engine, language=new.language,
        lines=len(new.lines), took_seconds=new.took_seconds, cost_cents=new.cost_cents, remark=new.remark, now=tx.now,
    )  # fmt: skip
    lines = to_json(
        [
            [number, line[0], line[1], who, plain_text(line[3], LONGEST_LINE), line[4]]
            for number, (line, who) in enumerate(zip(new.lines, speakers, strict=True))
        ]
    )
    await tx.change("transcript_lines_add", id=transcript_id, lines=lines)


async def _put_edits(tx: Transaction, transcript_id: str, new: NewTranscript, edits: Sequence[Edit]) -> None:
    if not edits:
        return
    heard = [line_from(row) for row in await tx.query("transcript_lines", id=transcript_id)]
    lines, left = laid_onto(heard, edits)
    for line in lines:
        if line.edited_by is not None:
            await tx.change(
                "transcript_line_edit", id=transcript_id, number=line.number, edited=line.edited, speaker=line.who,
                edited_by=line.edited_by,
            )  # fmt: skip
    for edit in left:
        await tx.change(
            "unplaced_edit_add", id=edit.id, recording_id=new.recording_id, begins=edit.start, ends=edit.end,
            heard=edit.heard, edited=edit.text, speaker=edit.speaker, edited_by=edit.by,
        )  # fmt: skip


async def save_summary(ctx: Context, new: NewSummary) -> bool:
    """Puts the summary in the place of the old one; False if the recording is gone."""

    async def unit(tx: Transaction) -> bool:
        if not await tx.change("recording_has_summary", id=new.recording_id, summary_id=ctx.id):
            return False
        await tx.change("summaries_delete", ids=[new.recording_id])
        await tx.change(
            "summary_add", id=ctx.id, recording_id=new.recording_id, transcript_id=new.transcript_id,
            text=plain_text(new.text, 1_000_000), method=new.method, template=new.template,
            model=new.model, tokens_in=new.tokens_in, tokens_out=new.tokens_out,
            cost_cents=new.cost_cents, took_seconds=new.took_seconds, now=tx.now,
        )  # fmt: skip
        await learn(tx, SUMMARIES, 1.0, new.took_seconds or 0.0)
        return True

    return await ctx.transact(unit)

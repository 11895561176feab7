"""Views and rows as the API's shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from towpath import Price
from towpath.recordings import records, schemas
from towpath.recordings.views import JobView, RecordingView

LABELS = {"extractive": "Extractive: sentences of the transcript itself", "chat": "Written by a language model"}


def job_shape(view: JobView) -> schemas.ProcessingJob:
    values: dict[str, Any] = {name: getattr(view, name) for name in schemas.ProcessingJob.model_fields if name != "progress"}
    progress = view.progress
    if progress is not None:
        values["progress"] = schemas.AudioProgress(current=progress[0], total=progress[1])
    return schemas.ProcessingJob.model_validate(values | ({} if progress else {"progress": None}))


def recording_fields(view: RecordingView) -> dict[str, Any]:
    one = view.recording
    return {
        "id": one.id, "title": one.title, "status": view.status, "tenant": one.tenant, "file_name": one.file_name,
        "media_type": one.media_type, "bytes": one.bytes, "duration": one.duration, "language": one.language,
        "model": one.model, "speakers": one.speakers, "auto_summary": one.auto_summary, "template": one.template,
        "tags": view.tags,
        "extension": one.extension, "duplicates": view.twins.others if view.twins else 0,
        "duplicate_of": view.twins.oldest if view.twins and view.twins.oldest != one.id else None, "creator": one.creator,
        "created_at": one.created_at, "has_transcript": one.transcript_id is not None,
        "has_summary": one.summary_id is not None, "warning": view.warning,
        "error": view.error, "needs_retry": view.needs_retry, "job": job_shape(view.job) if view.job else None,
    }  # fmt: skip


def recording_shape(view: RecordingView) -> schemas.Recording:
    return schemas.Recording(**recording_fields(view))


def detail_shape(
    view: RecordingView, transcript: schemas.TranscriptInfo | None, summary: schemas.Summary | None
) -> schemas.RecordingDetail:
    return schemas.RecordingDetail(
        **recording_fields(view),
        transcript=transcript,
        summary=summary,
        jobs=[job_shape(job) for job in view.jobs],
    )


def transcript_shape(one: records.Transcript, unplaced: int) -> schemas.TranscriptInfo:
    return schemas.TranscriptInfo(
        id=one.id, engine=one.engine, language=one.language, lines=one.lines, took_seconds=one.took_seconds,
        cost_cents=one.cost_cents, unplaced_edits=unplaced, created_at=one.created_at,
    )  # fmt: skip


def summary_shape(one: records.Summary, recording: records.Recording, prices: Mapping[str, Price]) -> schemas.Summary:
    return schemas.Summary.model_validate(
        {
            "text": one.text, "method": one.method, "template": one.template,
            "label": LABELS.get(one.method, one.method), "model": one.model,
            "tokens_in": one.tokens_in, "tokens_out": one.tokens_out, "cost_cents": _cost_of(one, prices),
            "took_seconds": one.took_seconds, "outdated": one.transcript_id != recording.transcript_id,
            "created_at": one.created_at,
        }
    )  # fmt: skip


def _cost_of(one: records.Summary, prices: Mapping[str, Price]) -> float | None:
    """As the price list has it today; None while it does not know the model, or nobody counted the tokens."""
    price = prices.get(one.model or "")
    if one.cost_cents is not None or price is None or one.tokens_in is None or one.tokens_out is None:
        return one.cost_cents
    return price.of(one.tokens_in, one.tokens_out)


def segment_shape(line: records.Line) -> schemas.Segment:
    return schemas.Segment.model_construct(
        number=line.number, start=line.start, end=line.end, speaker=line.speaker, speaker_number=line.who,
        text=line.text, edited=line.edited is not None, heard=line.heard, speaker_heard=line.speaker_heard,
    )  # fmt: skip


def speaker_shape(one: records.Speaker) -> schemas.Speaker:
    return schemas.Speaker(
        number=one.number, name=one.shown, named=one.name is not None, lines=one.lines, seconds=one.seconds
    )


def edit_shape(edit: records.Edit) -> schemas.UnplacedEdit:
    return schemas.UnplacedEdit.model_construct(
        id=edit.id, start=edit.start, end=edit.end, heard=edit.heard, text=edit.text, speaker=edit.speaker,
        edited_by=edit.by,
    )  # fmt: skip


def share_shape(one: records.Share) -> schemas.Share:
    return schemas.Share(id=one.id, with_audio=one.with_audio, created_at=one.created_at, expires_at=one.expires_at)


def shared_segment_shape(line: records.Line) -> schemas.SharedSegment:
    return schemas.SharedSegment.model_construct(
        number=line.number, start=line.start, end=line.end, speaker=line.speaker, text=line.text
    )


def shared_summary_shape(one: records.Summary) -> schemas.SharedSummary:
    return schemas.SharedSummary(text=one.text, label=LABELS.get(one.method, one.method))

"""Rows of this slice as Python values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from towpath import Row, State, from_json, moment

_LONGEST_EXTENSION = 10


@dataclass(frozen=True, slots=True)
class Ended:
    """How a job that is gone had ended."""

    job_id: str
    operation: str
    state: State
    error: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Recording:
    """What was uploaded, and what there is of it. Its status is not here: see `status.py`."""

    id: str
    tenant: str
    lane: str
    title: str
    file_name: str
    asset_id: str
    media_type: str
    bytes: int
    language: str | None
    speakers: bool
    auto_summary: bool
    duration: float | None
    transcript_id: str | None
    summary_id: str | None
    created_by: str | None
    creator: str | None
    created_at: datetime
    template: str | None = None
    """How it is summarised; None is the usual way."""
    model: str | None = None
    """Who hears it; None is whoever does by default."""
    lines: int | None = None
    """Of its transcript; none at all means that nobody speaks in it."""
    remark: str | None = None
    """What people should know of its transcript before they read it."""
    ended: Ended | None = None
    """The newest of its jobs that are gone."""

    @property
    def extension(self) -> str | None:
        """As the file's name has it; what the file is may be something else."""
        stem, dot, ending = self.file_name.rpartition(".")
        return ending.lower() if stem and dot and ending.isalnum() and len(ending) <= _LONGEST_EXTENSION else None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a transcript. `heard` is what the engine said; `text` is that, or what somebody made of it."""

    number: int
    start: float
    end: float
    speaker: str | None
    """What people see: the name that somebody gave, or the speaker's number in words."""
    heard: str
    edited: str | None = None
    edited_by: str | None = None
    speaker_heard: int | None = None
    """Whom the voice was taken for; `who` is that, or what somebody made of it."""
    who: int | None = None

    @property
    def text(self) -> str:
        return self.heard if self.edited is None else self.edited


@dataclass(frozen=True, slots=True)
class Speaker:
    """Of a recording. `said` tells that somebody has named, merged, divided or chosen it; that outlives a transcript."""

    number: int
    name: str | None
    said: bool
    lines: int = 0
    seconds: float = 0.0

    @property
    def shown(self) -> str:
        return shown_speaker(self.number, self.name)


def shown_speaker(number: int, name: str | None) -> str:
    return name or f"Speaker {number}"


@dataclass(frozen=True, slots=True)
class Edit:
    """A correction. `speaker` is who was said to speak, for people to read; None if nobody is."""

    id: str
    start: float
    end: float
    heard: str
    text: str | None
    speaker: str | None
    by: str | None


@dataclass(frozen=True, slots=True)
class Transcript:
    id: str
    recording_id: str
    engine: str
    language: str | None
    lines: int
    took_seconds: float | None
    cost_cents: float | None
    created_at: datetime
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """`method` is `extractive` (sentences of the transcript itself) or `chat` (written by a model)."""

    id: str
    recording_id: str
    transcript_id: str
    text: str
    method: str
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_cents: float | None
    took_seconds: float | None
    created_at: datetime
    template: str | None = None
    """What its template was called."""


@dataclass(frozen=True, slots=True)
class Share:
    id: str
    recording_id: str
    with_audio: bool
    created_at: datetime
    expires_at: datetime


def recording_from(row: Row) -> Recording:
    return Recording(
        row["id"], row["tenant"], row["lane"], row["title"], row["file_name"], row["asset_id"], row["media_type"],
        row["bytes"], row["language"], bool(row["speakers"]), bool(row["auto_summary"]), row["duration"],
        row["transcript_id"], row["summary_id"], row["created_by"], row["creator"], moment(row["created_at"]),
        row["template"], row["model"], row["lines"], row["remark"], _ended_from(row),
    )  # fmt: skip


def _ended_from(row: Row) -> Ended | None:
    if row["last_job"] is None:
        return None
    return Ended(row["last_job"], row["last_kind"], State(row["last_state"]), from_json(row["last_error"]))


def line_from(row: Row) -> Line:
    who = row["speaker"]
    shown = None if who is None else shown_speaker(who, row["name"])
    return Line(
        row["number"], row["begins"], row["ends"], shown, row["heard"], row["edited"], row["edited_by"],
        row["speaker_heard"], who,
    )  # fmt: skip


def edit_from(row: Row) -> Edit:
    return Edit(
        row["id"], row["begins"], row["ends"], row["heard"], row["edited"], row["speaker"], row["edited_by"]
    )  # fmt: skip


def transcript_from(row: Row) -> Transcript:
    return Transcript(
        row["id"], row["recording_id"], row["engine"], row["language"], row["lines"], row["took_seconds"],
        row["cost_cents"], moment(row["created_at"]), row["remark"],
    )  # fmt: skip


def summary_from(row: Row) -> Summary:
    return Summary(
        row["id"], row["recording_id"], row["transcript_id"], row["text"], row["method"], row["model"], row["tokens_in"],
        row["tokens_out"], row["cost_cents"], row["took_seconds"], moment(row["created_at"]), row["template"],
    )  # fmt: skip


def share_from(row: Row) -> Share:
    return Share(
        row["id"], row["recording_id"], bool(row["with_audio"]), moment(row["created_at"]), moment(row["expires_at"])
    )

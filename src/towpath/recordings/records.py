"""Rows of this slice as Python values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

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
    lines: int | None = None
    """Of its transcript; none at all means that nobody speaks in it."""
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
    heard: str
    edited: str | None = None
    edited_by: str | None = None
    speaker_heard: str | None = None
    """Whom the engine took the speaker for; `speaker` is that, or what somebody made of it."""

    @property
    def named(self) -> bool:
        """Whether somebody said who speaks. Only then does the name hold beyond the window it was heard in."""
        return self.speaker is not None and self.edited_by is not None and self.speaker != self.speaker_heard

    @property
    def text(self) -> str:
        return self.heard if self.edited is None else self.edited


@dataclass(frozen=True, slots=True)
class Edit:
    """A correction. `text` and `speaker` are what somebody typed; None where only the other was touched."""

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


def speaker_scope(lines: Iterable[Line]) -> Literal["window", "recording"] | None:
    """Within what the same name is the same person: `window` while a name is an engine's, `recording` if people gave
    them all, None if nobody is named."""
    named = [line.named for line in lines if line.speaker is not None]
    return None if not named else "recording" if all(named) else "window"


def recording_from(row: Row) -> Recording:
    return Recording(
        row["id"], row["tenant"], row["lane"], row["title"], row["file_name"], row["asset_id"], row["media_type"],
        row["bytes"], row["language"], bool(row["speakers"]), bool(row["auto_summary"]), row["duration"],
        row["transcript_id"], row["summary_id"], row["created_by"], row["creator"], moment(row["created_at"]),
        row["template"], row["lines"], _ended_from(row),
    )  # fmt: skip


def _ended_from(row: Row) -> Ended | None:
    if row["last_job"] is None:
        return None
    return Ended(row["last_job"], row["last_kind"], State(row["last_state"]), from_json(row["last_error"]))


def line_from(row: Row) -> Line:
    return Line(
        row["number"], row["begins"], row["ends"], row["speaker"], row["heard"], row["edited"], row["edited_by"],
        row["speaker_heard"],
    )  # fmt: skip


def edit_from(row: Row) -> Edit:
    return Edit(
        row["id"], row["begins"], row["ends"], row["heard"], row["edited"], row["speaker"], row["edited_by"]
    )  # fmt: skip


def transcript_from(row: Row) -> Transcript:
    return Transcript(
        row["id"], row["recording_id"], row["engine"], row["language"], row["lines"], row["took_seconds"],
        row["cost_cents"], moment(row["created_at"]),
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

"""Where files are transcribed: in a data directory on this machine, or by a server. Both are spoken to in the same words."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

ENDED = frozenset({"COMPLETED", "FAILED", "CANCELLED"})
_HEARD = frozenset({"SUMMARIZING", "COMPLETED"})


@dataclass(frozen=True, slots=True)
class FileOptions:
    """What is asked of each file."""

    language: str | None = None
    speakers: bool = False
    summary: bool = False
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """How far a file is. `current` and `total` are seconds of audio; `word` is for people."""

    status: str
    current: float = 0.0
    total: float | None = None
    word: str = ""
    error: str | None = None

    @property
    def ended(self) -> bool:
        return self.status in ENDED


@dataclass(frozen=True, slots=True)
class Told:
    """What a job that speaks for a recording tells of it."""

    queue: str
    progress: tuple[float, float | None] | None
    waiting_for: str | None
    remedy: str | None


def look_at(status: str, duration: float | None, warning: str | None, error: str | None, job: Told | None) -> Look:
    """A recording, whoever told of it. How far a summary is says nothing of the audio."""
    heard = job.progress if job is not None and job.queue == "transcription" else None
    current = heard[0] if heard and heard[1] == duration else 0.0
    if status in _HEARD:
        current = duration or 0.0
    waiting = job.waiting_for if job is not None and status == "PENDING" else None
    if error and job is not None and job.remedy:
        error = f"{error}; {job.remedy}"
    return Look(status, current, duration, warning or waiting or "", error)


async def digest_of(path: Path) -> str:
    """By which a file is known again, whatever it is called."""

    def read() -> str:
        with path.open("rb") as source:
            return hashlib.file_digest(source, "sha256").hexdigest()

    return await asyncio.to_thread(read)


class Place(Protocol):
    async def find(self, digest: str, wishes: FileOptions) -> str | None:
        """The recording of this content with these wishes, if there is one."""
        ...

    async def take_up(self, recording_id: str) -> None:
        """Begins one again that failed or was called off; others go on by themselves."""
        ...

    async def send(self, path: Path, wishes: FileOptions) -> str:
        """Hands a file over; answers the recording's id. An expected refusal is a TowpathError that says why."""
        ...

    async def look(self, ids: list[str]) -> dict[str, Look]: ...

    async def export(self, recording_id: str, wanted: str) -> bytes: ...

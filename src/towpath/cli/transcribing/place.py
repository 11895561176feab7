"""Where files are transcribed: in a data directory on this machine, or by a server. Both are spoken to in the same words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

ENDED = frozenset({"COMPLETED", "FAILED", "CANCELLED"})


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is asked of each file."""

    language: str | None = None
    speakers: bool = False
    summary: bool = False


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


class Place(Protocol):
    async def send(self, path: Path, wishes: Wishes) -> str:
        """Hands a file over; answers the recording's id. An expected refusal is a TowpathError that says why."""
        ...

    async def look(self, ids: list[str]) -> dict[str, Look]: ...

    async def export(self, recording_id: str, wanted: str) -> str: ...

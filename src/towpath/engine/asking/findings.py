"""What a look at an installation or a database found, in words a person can act on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(slots=True)
class Finding:
    """One thing that was looked at. `remedy` is what to do about it, where there is something to do."""

    level: Level
    topic: str
    message: str
    remedy: str | None = None


def ok(topic: str, message: str) -> Finding:
    return Finding(Level.OK, topic, message)


def note(topic: str, message: str, remedy: str | None = None) -> Finding:
    return Finding(Level.NOTE, topic, message, remedy)


def problem(topic: str, message: str, remedy: str) -> Finding:
    return Finding(Level.PROBLEM, topic, message, remedy)

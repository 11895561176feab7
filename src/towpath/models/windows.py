"""Cuts decoded audio into windows at silences.

Windows are the unit of work and of resuming: each is short enough to be heard again after a crash, and ends where nobody
speaks, so that no word is cut in two. They follow each other without gap or overlap from the first sample to the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from towpath.core.errors import ConfigurationError, SchemaInvalid

if TYPE_CHECKING:
    from towpath.models.speech import Samples

SAMPLE_RATE = 16_000
_FRAME = 480  # samples: 30 ms, the longest frame the detector takes
_SECOND = SAMPLE_RATE / _FRAME  # frames
_BLOCK = 2048  # frames read at a time


@dataclass(frozen=True, slots=True)
class Window:
    """Seconds from the beginning of the recording."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start

"""What opening one file may cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost. `longest_seconds` is of decoded audio, whatever the file says about its length."""

    memory_mb: int = 1024
    cpu_seconds: int = 3600
    wall_seconds: float = 3600.0
    longest_seconds: float = 24 * 3600.0


PROBING = Limits(memory_mb=1024, cpu_seconds=60, wall_seconds=120.0)

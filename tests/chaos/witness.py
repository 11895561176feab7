"""What really happened, written down outside the database by everyone who took part.

Handlers, clients and the driver append one JSON line per thing they saw to a common file. A line is one O_APPEND write,
so lines of different processes never mix, and a line that was written outlives the writer's death. The clocks are read
from the kernel directly: a test that shifts a process's `time.time` does not shift its testimony.
"""

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Sighting:
    kind: str
    pid: int
    wall: float
    steady: float  # the same clock for all processes of a machine, and it never jumps
    job: str | None = None
    fence: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)


class Witness:
    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def tell(self, kind: str, job: str | None = None, fence: int | None = None, **facts: Any) -> None:
        line = {
            "kind": kind,
            "pid": os.getpid(),
            "wall": time.clock_gettime(time.CLOCK_REALTIME),
            "steady": time.clock_gettime(time.CLOCK_MONOTONIC),
            "job": job,
            "fence": fence,
            "facts": facts,
        }
        os.write(self._file, json.dumps(line).encode() + b"\n")

    def close(self) -> None:
        os.close(self._file)


def testimony(path: Path | str) -> list[Sighting]:
    """Every line so far, in the order in which they were written."""
    file = Path(path)
    if not file.exists():
        return []
    return [Sighting(**json.loads(line)) for line in file.read_text().splitlines() if line]

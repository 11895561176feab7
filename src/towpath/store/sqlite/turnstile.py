"""Fair turns at the write lock between processes.

SQLite's own busy timeout is a lottery: a process that writes all the time starves the others for seconds. Here everyone
queues at two locked side files. Holding `next` means being first in line; the first in line waits for `write`, takes it,
and lets the second step up. The kernel drops both locks when a process dies.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Turnstile:
    def __init__(self, database: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._next = os.open(f"{database}-next", flags, 0o600)
        self._write = os.open(f"{database}-write", flags, 0o600)

    @contextmanager
    def turn(self) -> Iterator[None]:
        fcntl.flock(self._next, fcntl.LOCK_EX)
        try:
            fcntl.flock(self._write, fcntl.LOCK_EX)
        finally:
            fcntl.flock(self._next, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(self._write, fcntl.LOCK_UN)

    def close(self) -> None:
        for descriptor in (self._next, self._write):
            os.close(descriptor)

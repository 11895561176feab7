"""Fair turns at the write lock between processes.

SQLite's own busy timeout is a lottery: a process that writes all the time starves the others for seconds. Here everyone
queues at two locked side files. Holding `next` means being first in line; the first in line waits for `write`, takes it,
and lets the second step up. The kernel drops both locks when a process dies.

Python's own `flock` lets go of the interpreter's lock for every call. The event loop takes it then, runs all the jobs it
has, and this thread waits for milliseconds, four times a turn and mostly with the write lock in its hands, which keeps
other processes waiting, too. Taking a lock that is free and letting go of one never block, so they are called without
that (`PyDLL`); only whoever has to wait in line lets others run.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_flock = ctypes.PyDLL(None, use_errno=True).flock


class Turnstile:
    def __init__(self, database: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._next = os.open(f"{database}-next", flags, 0o600)
        self._write = os.open(f"{database}-write", flags, 0o600)

    @contextmanager
    def turn(self) -> Iterator[None]:
        _take(self._next)
        try:
            _take(self._write)
        finally:
            _let_go(self._next)
        try:
            yield
        finally:
            _let_go(self._write)

    def close(self) -> None:
        for descriptor in (self._next, self._write):
            os.close(descriptor)


def _take(descriptor: int) -> None:
    if _flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB) == 0:
        return
    if ctypes.get_errno() not in (errno.EWOULDBLOCK, errno.EINTR):
        _raise(descriptor)
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def _let_go(descriptor: int) -> None:
    if _flock(descriptor, fcntl.LOCK_UN) != 0:
        _raise(descriptor)


def _raise(descriptor: int) -> None:
    number = ctypes.get_errno()
    raise OSError(number, f"{os.strerror(number)}: the lock of the turnstile, descriptor {descriptor}")

"""numpy's matrices with one thread.

By itself its library divides small matrices among all cores, whose threads then wait for each other in loops: on two busy
cores a voice takes nine times the computing. Windows are heard side by side already.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

_PREFIXES = ("scipy_openblas", "openblas")
_SUFFIXES = ("64_", "")


@dataclass(slots=True)
class _Held:
    """How many want one thread now, and how many there were before the first of them."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    count: int = 0
    before: int = 0


_held = _Held()


@contextmanager
def one_thread() -> Iterator[None]:
    """For all of this process, until the last of them leaves. Does nothing where numpy has another library."""
    library = _library()
    if library is None:
        yield
        return
    ask, tell = library
    with _held.lock:
        if _held.count == 0:
            _held.before = ask()
            tell(1)
        _held.count += 1
    try:
        yield
    finally:
        with _held.lock:
            _held.count -= 1
            if _held.count == 0:
                tell(_held.before)


@cache
def _library() -> tuple[Any, Any] | None:
    import numpy as np

    beside = Path(np.__file__).parent
    for path in sorted([*beside.parent.glob("numpy.libs/*openblas*"), *beside.glob(".dylibs/*openblas*")]):
        try:
            loaded = ctypes.CDLL(str(path))
        except OSError:
            continue
        for prefix in _PREFIXES:
            for suffix in _SUFFIXES:
                ask = getattr(loaded, f"{prefix}_get_num_threads{suffix}", None)
                tell = getattr(loaded, f"{prefix}_set_num_threads{suffix}", None)
                if ask is not None and tell is not None:
                    return ask, tell
    return None

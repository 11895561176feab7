"""Which process a worker is, in words that another process on the same machine can check with the kernel.

A worker that was killed and one that could not reach the database look the same from the database. Whoever lives on the
same machine need not guess. Where the kernel does not say (another machine, another container, no `/proc`), nothing is
claimed, and nothing is concluded.
"""

from __future__ import annotations

import os
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_ENDED = frozenset("ZX")  # its parent has not taken note of it yet


def this_process() -> str | None:
    """This boot of this machine, the namespace its numbers belong to, the number, and when the process was started: numbers
    are used again."""
    place, stat = _place(), _stat(os.getpid())
    return f"{place} {os.getpid()} {stat[1]}" if place is not None and stat is not None else None


def is_gone(process: str | None) -> bool:
    """Whether it has certainly ended. False if it has not, and if that cannot be said from here."""
    words = (process or "").split(" ")
    if len(words) != 4 or " ".join(words[:2]) != _place():
        return False
    try:
        os.kill(int(words[2]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # somebody else's: the number at least is in use
    stat = _stat(int(words[2]))
    return stat is not None and (stat[0] in _ENDED or stat[1] != words[3])


def _place() -> str | None:
    try:
        return f"{_BOOT.read_text('ascii').strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return None


def _stat(pid: int) -> tuple[str, str] | None:
    """State and start of a process, if we may know them."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold anything
    return fields[0], fields[19]

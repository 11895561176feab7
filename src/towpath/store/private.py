"""Files and folders for nobody else on this machine: there are payloads in them, and hashes of passwords.

A file that its owner shares with a group, by letting the group write, stays shared: that was meant. One that others may
only read was merely made under the usual umask.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
SIDES = ("", "-wal", "-shm", "-journal", "-next", "-write")
"""What a SQLite database consists of, beside its own name: SQLite's files, and the locks of the turnstile."""


def make_folder(folder: Path) -> Path:
    """With every folder above it that is missing; those that are there stay as they are."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)
    return folder


def make_file(path: Path) -> None:
    """Empty, unless it is there. Made before others write to it, because they would make it readable for everybody."""
    with suppress(OSError):  # whoever opens it next says what is wrong
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def loose(paths: Iterable[Path]) -> list[Path]:
    """Those that others can read or write, apart from what a group shares."""
    return [path for path in paths if _is_loose(path)]


def _is_loose(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    shared = found.st_mode & stat.S_IWGRP and not found.st_mode & stat.S_IRWXO
    return stat.S_ISREG(found.st_mode) and bool(found.st_mode & _OTHERS) and not shared


def tighten(paths: Iterable[Path]) -> None:
    """As far as they are ours; where the system does not let us, `towpath doctor` tells."""
    for path in loose(paths):
        mode = stat.S_IMODE(path.lstat().st_mode)
        keep = stat.S_IRWXU | (stat.S_IRWXG if mode & stat.S_IWGRP else 0)
        with suppress(OSError):
            path.chmod(mode & keep)


def files_of(database: Path) -> list[Path]:
    return [database.with_name(f"{database.name}{side}") for side in SIDES]

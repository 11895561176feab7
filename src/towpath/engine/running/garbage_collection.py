"""Keeps Python's garbage collector away from what will never be garbage.

What is there when the first worker of a process starts, modules for the most part, stays until the process ends. The
collector would look through all of it again and again while jobs come and go: some five per cent of a busy worker's time.
"""

from __future__ import annotations

import gc

_frozen = False


def freeze_what_is_loaded() -> None:
    """Once per process, after a last collection: from then on the collector looks only at what is new."""
    global _frozen  # noqa: PLW0603  (a process has one collector)
    if not _frozen:
        _frozen = True
        gc.collect()
        gc.freeze()

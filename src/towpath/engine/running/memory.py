"""What is there when the first worker of a process starts, modules for the most part, is there to stay.

Python's garbage collector would look through all of it again and again while jobs come and go: some five per cent of a busy
worker's time.
"""

from __future__ import annotations

import gc

_settled = False


def settle_in() -> None:
    """Once per process, after a last look: from here on the collector looks at what is new."""
    global _settled  # noqa: PLW0603  (a process has one collector)
    if not _settled:
        _settled = True
        gc.collect()
        gc.freeze()

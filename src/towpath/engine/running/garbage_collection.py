"""Keeps Python's garbage collector from looking at what is no garbage.

What is there when the first worker of a process starts, modules for the most part, stays until the process ends. The
collector would look through all of it again and again while jobs come and go: some five per cent of a busy worker's time.

And it looks at the youngest objects whenever there are 700 more of them than before. A worker with a few hundred slots has
as many with every claim, nearly all of them in use: another tenth of its time. Hardly anything of a job is left that only
the collector can find, so it may wait until there is more to look at.
"""

from __future__ import annotations

import gc

_frozen = False
_YOUNG = 10_000
"""About what a worker with a thousand slots has in use. To look through as many takes less than a millisecond."""


def leave_live_objects_alone() -> None:
    """Once per process: after a last collection what is there is never looked at again, and what is new less often. A
    program that has switched the collector off, or lets it wait for longer, has its way."""
    global _frozen  # noqa: PLW0603  (a process has one collector)
    if _frozen:
        return
    _frozen = True
    gc.collect()
    gc.freeze()
    young, *older = gc.get_threshold()
    if 0 < young < _YOUNG:
        gc.set_threshold(_YOUNG, *older)

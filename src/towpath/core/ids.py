"""Client-made ids: known before the insert, so that an unknown commit can be asked about, and ordered by time."""

from __future__ import annotations

import os
import threading
import time

_lock = threading.Lock()
_last = 0


def uuid7() -> str:
    """A UUID version 7 that never goes backwards within this process, as text."""
    global _last  # noqa: PLW0603  (the monotonic counter is the point)
    with _lock:
        # 48 bits of milliseconds, then 12 bits of sub-millisecond time, so ids of one process sort by creation.
        ticks = time.time_ns() * 4096 // 1_000_000
        _last = ticks = max(ticks, _last + 1)
    value = (ticks >> 12) << 80 | 0x7000 << 64 | (ticks & 0xFFF) << 64
    value |= 0x8 << 60 | int.from_bytes(os.urandom(8)) >> 4
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

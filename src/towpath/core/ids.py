"""Client-made ids: known before the insert, so that an unknown commit can be asked about, and ordered by time."""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime

FIRST_ID = "00000000-0000-0000-0000-000000000000"
"""Before every id: where a walk over all of them begins."""
LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
"""After every id: where a walk from the newest to the oldest begins."""

_lock = threading.Lock()
_last = 0
_BUFFER = 4096
_random = b""
_used = 0


def uuid7() -> str:
    """A UUID version 7 that never goes backwards within this process, as text."""
    global _last, _random, _used  # noqa: PLW0603  (the monotonic counter and the buffer are the point)
    with _lock:
        # 48 bits of milliseconds, then 12 bits of sub-millisecond time, so ids of one process sort by creation.
        ticks = time.time_ns() * 4096 // 1_000_000
        _last = ticks = max(ticks, _last + 1)
        if _used + 8 > len(_random):
            _random, _used = os.urandom(_BUFFER), 0
        noise = int.from_bytes(_random[_used : _used + 8])
        _used += 8
    text = f"{(ticks >> 12) << 80 | (0x7000 | ticks & 0xFFF) << 64 | 0x8 << 60 | noise >> 4:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def uuid7s(count: int) -> list[str]:
    """So many of them, at about half the price each."""
    global _last  # noqa: PLW0603  (see above)
    noise = os.urandom(8 * count).hex()
    with _lock:
        ticks = max(time.time_ns() * 4096 // 1_000_000, _last + 1)
        _last = ticks + count - 1
    made, at, millisecond, begin = [], 0, -1, ""
    for tick in range(ticks, ticks + count):
        if tick >> 12 != millisecond:
            millisecond = tick >> 12
            text = f"{millisecond:012x}"
            begin = f"{text[:8]}-{text[8:]}-7"
        made.append(f"{begin}{tick & 0xFFF:03x}-8{noise[at : at + 3]}-{noise[at + 3 : at + 15]}")
        at += 16
    return made


def first_at(moment: datetime) -> str:
    """The lowest id that can have been made at this moment: whatever was made before sorts before it."""
    text = f"{int(moment.timestamp() * 1000) << 80:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def moment_of(job_id: str) -> datetime:
    """When the id was made, by the clock of whoever made it; an id that is no UUID version 7 gives just some moment."""
    return datetime.fromtimestamp(min(int(job_id[:8] + job_id[9:13], 16) / 1000, 253402300799), UTC)


def _forget() -> None:
    """A forked child must not hand out its parent's random bytes again."""
    global _random  # noqa: PLW0603  (see above)
    _random = b""


os.register_at_fork(after_in_child=_forget)

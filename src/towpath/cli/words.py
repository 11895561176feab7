"""Times, durations and sizes in words, and back."""

from __future__ import annotations

import re
import shutil
import sys
from datetime import datetime, timedelta
from pathlib import Path

import typer

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 7 * 86400.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")


def program() -> str:
    """How this command is called here, for hints that can be typed as they stand: `towpath`, or its path where that is
    not found by its name."""
    called = Path(sys.argv[0])
    if called.name != "towpath" or not called.exists():
        return "towpath"
    found = shutil.which("towpath")
    if found is not None and Path(found).samefile(called):
        return "towpath"
    here = Path.cwd()
    path = called.absolute()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def parse_duration(text: str, option: str) -> timedelta:
    """`90`, `90s`, `15m`, `12h`, `30d` or `2w`."""
    match = _DURATION.fullmatch(text.strip().lower())
    try:
        if match is not None:
            return timedelta(seconds=float(match[1]) * _UNITS[match[2] or "s"])
    except OverflowError:
        pass
    message = f"{text[:40]!r} is no duration; write a number with s, m, h, d or w, such as 90s or 30d"
    raise typer.BadParameter(message, param_hint=option)


def duration(seconds: float) -> str:
    seconds = max(0.0, seconds)
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    if seconds < 2 * 86400:
        return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min"
    return f"{seconds / 86400:.0f} days"


def age(moment: datetime | None, now: datetime) -> str:
    """How far away a moment is: `12 s ago`, `in 5 min`."""
    if moment is None:
        return "–"
    seconds = (now - moment).total_seconds()
    return f"{rough(seconds)} ago" if seconds >= 0 else f"in {rough(-seconds)}"


def rough(seconds: float) -> str:
    """A duration in one unit."""
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit or (unit == 60 and seconds >= 60):
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} s"


def clock(moment: datetime | None) -> str:
    """A moment in the reader's own time zone."""
    return "–" if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def time_of_day(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone().strftime("%H:%M:%S")


def playing_time(seconds: float | None) -> str:
    """As players show it: `1:05`, `1:02:03`."""
    minutes, rest = divmod(round(seconds or 0), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def size(number: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} TB"


def jobs(number: int) -> str:
    return "1 job" if number == 1 else f"{number:,} jobs"

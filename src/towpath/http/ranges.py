"""Parts of a file as HTTP asks for them (RFC 9110, 14): one range; what asks for several gets the whole."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ONE = re.compile(r"bytes=\s*(\d{0,18})-(\d{0,18})\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` up to, not including, `end`."""

    start: int
    end: int


class Unsatisfiable(Exception):
    """Nothing of what was asked for is in the file."""


def span_of(header: str | None, size: int) -> Span | None:
    """What a Range header asks for; None is the whole file, also if the header makes no sense."""
    match = _ONE.fullmatch(header.strip()) if header else None
    if match is None or match.group(1) == match.group(2) == "":
        return None
    first, last = match.groups()
    if first == "":
        if int(last) == 0 or size == 0:
            raise Unsatisfiable
        return Span(max(0, size - int(last)), size)
    if last and int(last) < int(first):
        return None
    if int(first) >= size:
        raise Unsatisfiable
    return Span(int(first), min(int(last) + 1, size) if last else size)

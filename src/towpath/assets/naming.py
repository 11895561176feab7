"""File names are what a stranger typed: kept to be shown, and never a path, a key or a header as they are."""

from __future__ import annotations

import re
from urllib.parse import quote

from towpath import plain_text

LONGEST = 255
_NAMELESS = "upload"
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Control characters, and those that turn the writing direction so that one ending looks like another."""


def shown_name(given: str) -> str:
    """The last part of what was given, without what cannot be seen; a long one keeps its ending."""
    last = re.split(r"[/\\]", _UNSEEN.sub("", plain_text(given, limit=len(given) + 1).replace("␀", "")))[-1].strip()
    if last in ("", ".", ".."):
        return _NAMELESS
    if len(last) <= LONGEST:
        return last
    stem, dot, ending = last.rpartition(".")
    ending = f"{dot}{ending}" if stem and len(ending) <= 20 else ""
    return last[: LONGEST - len(ending) - 1] + "…" + ending


def disposition(kind: str, name: str) -> str:
    """The Content-Disposition header: plain ASCII for old clients, and the whole name for the others."""
    simple = re.sub(r"[^A-Za-z0-9._ -]", "_", name)
    return f"{kind}; filename=\"{simple}\"; filename*=UTF-8''{quote(name, safe='')}"

"""The Upload-Metadata header of tus: keys and base64 values, from a stranger."""

from __future__ import annotations

import base64
import binascii

from towpath.assets.uploads import Wanted
from towpath.core.encoding import plain
from towpath.http.problems import Problem, invalid

_HEADER = "Upload-Metadata"
_LONGEST = 8 * 1024
_MOST_KEYS = 50
_ABOUT_THE_FILE = frozenset({"filename", "name", "filetype", "type", "purpose", "relativePath"})


def wanted_from(length: int, header: str) -> Wanted:
    """What it says about the file; keys that are not about the file itself are options for its purpose."""
    found = _parsed(header)
    if not found.get("purpose"):
        raise invalid("purpose", f"{_HEADER} does not say what the file is for", remedy="add `purpose`, such as `recording`")
    options = {key: value for key, value in found.items() if key not in _ABOUT_THE_FILE}
    return Wanted(length, found.get("filename") or found.get("name") or "", found["purpose"], options, header)


def _parsed(header: str) -> dict[str, str]:
    if len(header) > _LONGEST or header.count(",") >= _MOST_KEYS:
        raise Problem("too_large", 413, f"{_HEADER} is longer than {_LONGEST:,} bytes or has over {_MOST_KEYS} keys")
    found: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in header.split(","))):
        key, _, value = pair.partition(" ")
        if key in found or not key.isascii():
            raise invalid(_HEADER, f"the key {key[:50]!r} is there twice, or is not ASCII")
        found[key] = _decoded(key, value.strip())
    return found


def _decoded(key: str, value: str) -> str:
    try:
        text = base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        raise invalid(_HEADER, f"the value of {key[:50]!r} is not base64 of UTF-8") from None
    return plain(text, limit=len(text) + 1)

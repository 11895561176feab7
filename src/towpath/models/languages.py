"""Language tags as people and engines write them."""

from __future__ import annotations

import re

from towpath.core.errors import SchemaInvalid

_TAG = re.compile(r"[a-z]{2,3}([-_][a-z0-9]{2,8})*", re.IGNORECASE)
_NO_CHOICE = ("", "auto")


def primary(language: str | None) -> str | None:
    """`en` for `en`, `EN`, `en-GB` and `en_US`; None where nothing was chosen."""
    tag = (language or "").strip()
    if tag.lower() in _NO_CHOICE:
        return None
    if not _TAG.fullmatch(tag):
        raise SchemaInvalid(
            f"{tag[:40]!r} is no language tag", path="language", remedy="write it like en, de or pt-BR, or leave it out"
        )
    return re.split("[-_]", tag.lower())[0]

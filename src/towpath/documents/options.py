"""What may be said of how documents are read, and what holds if nothing is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

USUAL_TOKENS = 160
LEAST_TOKENS, MOST_TOKENS = 32, 1024


@dataclass(frozen=True, slots=True)
class Options:
    """`remote` names steps that a service does instead, each with its address; `budget_cents` is what the run may spend."""

    ocr: bool = True
    chunk_tokens: int = USUAL_TOKENS
    embed: bool = True
    entities: bool = True
    remote: Mapping[str, str] = field(default_factory=dict)
    remote_cents: float = 0.0
    """What one call of such a service costs at the most: so much is held back before it is called."""
    budget_cents: float | None = None


NAMES = tuple(Options.__dataclass_fields__)


def options_from(*said: Mapping[str, Any] | None) -> Options:
    """What was said last counts."""
    merged: dict[str, Any] = {}
    for one in said:
        told = {name: value for name, value in (one or {}).items() if name in NAMES}
        remote = merged.get("remote", {}) | (told.get("remote") or {})  # who changes one address leaves the others alone
        merged |= told | {"remote": {step: url for step, url in remote.items() if url is not None}}
    return Options(**merged)

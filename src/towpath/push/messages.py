"""What is handed out to streams, encoded once for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Wants = Callable[[str, str | None, str], bool]
"""Whether anybody wants a message: its kind, the tenant, and the id of the job or thing that it tells of."""


@dataclass(frozen=True, slots=True)
class Message:
    kind: str
    tenant: str | None
    about: str
    """The id of the job, or of the thing that jobs work on."""
    data: bytes

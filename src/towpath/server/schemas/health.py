"""Health."""

from __future__ import annotations

from typing import Literal

from towpath.server.schemas.base import Answer


class Health(Answer):
    status: Literal["ok"]
    version: str

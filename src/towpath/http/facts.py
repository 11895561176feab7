"""What is known about the request at hand; kept in its ASGI scope, so that routes and middleware share it."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

from towpath.identity.principal import Principal

_KEY = "towpath"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""


@dataclass(frozen=True, slots=True)
class Note:
    """One line for the audit log. Without an account it is the principal's."""

    action: str
    target: str | None = None
    tenant: str | None = None
    account_id: str | None = None
    account: str | None = None
    via: str | None = None
    details: dict[str, Any] | None = None


@dataclass(slots=True)
class Facts:
    request_id: str = ""
    address: str | None = None
    principal: Principal | None = None
    asked: bool = False
    """Whether the principal has been looked up, found or not."""
    notes: list[Note] = field(default_factory=list)
    audited: bool = False
    """Whether the line is written by the transaction that makes the change."""


def facts_in(scope: MutableMapping[str, Any]) -> Facts:
    facts: Facts = scope.setdefault(_KEY, Facts())
    return facts

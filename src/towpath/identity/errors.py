"""What looking after accounts can fail with.

TowpathError
├── AccountNotFound       no account, token or session of this name or id
├── AccountConflict       it exists already, or is needed as it is
├── LoginRefused          wrong name or password, a link that no longer holds; never says which
├── Throttled             too many attempts; `seconds` says how long to wait
└── ProviderUnavailable   the OpenID provider does not answer, or not as it should
"""

from __future__ import annotations

import math

from towpath.core.errors import TowpathError


class AccountNotFound(TowpathError, LookupError):
    """No account, token or session of this name or id."""


class AccountConflict(TowpathError):
    """The change does not fit what is there; the message says why."""


class LoginRefused(TowpathError):
    """Whoever it is may not log in this way. The message is the same whatever the reason."""

    def __init__(self, message: str, *, remedy: str | None = None) -> None:
        super().__init__(message)
        self.remedy = remedy


class Throttled(TowpathError):
    """Too many attempts for this name or from this address."""

    def __init__(self, seconds: float) -> None:
        self.seconds = max(1, math.ceil(seconds))
        super().__init__(f"there were too many attempts to log in; the next one is possible in {self.seconds} s")


class ProviderUnavailable(TowpathError):
    """The OpenID provider does not answer, or not as it should."""

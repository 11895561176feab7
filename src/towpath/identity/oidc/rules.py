"""Who may come in through the provider, and under which name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_allowed(claims: Mapping[str, Any], rule: str) -> bool:
    """`example.com` is everybody with a verified address there; `groups=staff` whose claim is or holds that value.
    Several are separated by commas, and one of them is enough."""
    return any(_fits(claims, part.strip()) for part in rule.split(",") if part.strip())


def _fits(claims: Mapping[str, Any], part: str) -> bool:
    name, equals, wanted = part.partition("=")
    if not equals:
        return (verified_email(claims) or "").rpartition("@")[2].lower() == part.lower()
    found = claims.get(name.strip())
    values = found if isinstance(found, list) else [found]
    return any(isinstance(value, str) and value == wanted.strip() for value in values)


def verified_email(claims: Mapping[str, Any]) -> str | None:
    email = claims.get("email")
    return email if isinstance(email, str) and "@" in email and claims.get("email_verified") is True else None


def name_for(claims: Mapping[str, Any]) -> str:
    """The name of a new account."""
    preferred = claims.get("preferred_username")
    return verified_email(claims) or (preferred if isinstance(preferred, str) and preferred else str(claims["sub"]))

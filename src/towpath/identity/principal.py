"""Who makes a request: an account, for one tenant, with the scopes of what it showed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

READ, WRITE, PRIORITY, ADMIN = "read", "write", "priority", "admin"
SCOPES: tuple[str, ...] = (READ, WRITE, PRIORITY, ADMIN)

Via = Literal["session", "token", "local"]


@dataclass(frozen=True, slots=True)
class Principal:
    """`admin` is what this request may do, not only what the account is: an administrator's token without the scope
    `admin` sees its own tenant like anybody else."""

    account_id: str
    name: str
    tenant: str
    tenants: tuple[str, ...]
    admin: bool
    scopes: frozenset[str]
    via: Via
    credential: str = ""
    """The id of the session or token, which is no secret: long answers ask by it whether it still holds."""

    def may(self, scope: str) -> bool:
        return scope in self.scopes


def scopes_of_account(admin: bool) -> frozenset[str]:
    """Everything an account may do: what its browser sessions have, and the most its tokens can have."""
    return frozenset(SCOPES) if admin else frozenset({READ, WRITE})


WITHOUT_STANDING = "leave it out, or use a token that has the scope"
"""What to do about `no_standing`."""


def no_standing(may: Collection[str], priority: int, cost: float = 1.0) -> str | None:
    """Coming before everybody else, or paying less than others for a turn, takes a scope of its own. Why not, without it."""
    if PRIORITY in may or (priority >= 1 and cost >= 1.0):
        return None
    what = "priority 0" if priority < 1 else "a cost below 1"
    return f"{what} takes from others, and needs the scope {PRIORITY!r}"

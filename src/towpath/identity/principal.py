"""Who makes a request: an account, for one tenant, with the scopes of what it showed."""

from __future__ import annotations

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

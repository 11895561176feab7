"""Rows of the identity tables as Python values. Hashes of secrets are in none of them, so that they can be shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from towpath.core.moments import moment
from towpath.store.contract import Row


@dataclass(frozen=True, slots=True)
class Account:
    id: str
    name: str
    admin: bool
    tenants: tuple[str, ...]
    created_at: datetime | None
    last_seen_at: datetime | None
    disabled: bool
    has_password: bool


@dataclass(frozen=True, slots=True)
class Token:
    id: str
    name: str
    account: str
    tenant: str
    scopes: tuple[str, ...]
    prefix: str
    created_at: datetime | None
    expires_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A browser that is logged in."""

    id: str
    tenant: str
    address: str | None
    agent: str | None
    created_at: datetime | None
    seen_at: datetime | None


def account_from(row: Row, tenants: tuple[str, ...]) -> Account:
    return Account(
        row["id"], row["name"], bool(row["admin"]), tenants, moment(row["created_at"]), moment(row["last_seen_at"]),
        row["disabled_at"] is not None, row["password"] is not None,
    )  # fmt: skip


def token_from(row: Row) -> Token:
    return Token(
        row["id"], row["name"], row["account"], row["tenant"], tuple(row["scopes"].split()), row["prefix"],
        moment(row["created_at"]), moment(row["expires_at"]), moment(row["last_used_at"]),
    )  # fmt: skip


def session_from(row: Row) -> OpenSession:
    return OpenSession(
        row["id"], row["tenant"], row["address"], row["agent"], moment(row["created_at"]), moment(row["seen_at"])
    )

"""API tokens: shown once, stored as their hash, with scopes, for one tenant."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta

from towpath.core.errors import SchemaInvalid, StoreUnavailable
from towpath.core.ids import uuid7
from towpath.core.moments import moment
from towpath.engine.registry import check_label
from towpath.identity.accounts import tenants_of
from towpath.identity.errors import AccountNotFound
from towpath.identity.principal import ADMIN, SCOPES, Principal, scopes_of_account
from towpath.identity.records import Account, Token, token_from
from towpath.identity.secrets import TOKEN_MARK, digest, draw_token, prefix_of
from towpath.store.also import Also, together
from towpath.store.contract import Row, Store, Tx

USED_EVERY = timedelta(minutes=1)
_LONGEST_DAYS = 3650.0


def check_scopes(scopes: Iterable[str], allowed: Iterable[str]) -> tuple[str, ...]:
    """In their usual order. A token can never have more than whoever makes it."""
    asked, most = set(scopes), set(allowed)
    if unknown := sorted(asked - set(SCOPES)):
        raise SchemaInvalid(f"there is no scope {unknown[0][:40]!r}; there are {', '.join(SCOPES)}", path="scopes")
    if not asked:
        raise SchemaInvalid(f"a token needs at least one scope of {', '.join(SCOPES)}", path="scopes")
    if excess := [scope for scope in SCOPES if scope in asked - most]:
        raise SchemaInvalid(f"the scope {excess[0]!r} is beyond what this account may do here", path="scopes")
    return tuple(scope for scope in SCOPES if scope in asked)


def _check_days(days: float | None) -> float | None:
    if days is not None and not (math.isfinite(days) and 0 < days <= _LONGEST_DAYS):
        raise SchemaInvalid(f"must be above 0 and at most {_LONGEST_DAYS:.0f} days, got {days!r}", path="days")
    return days


async def create(
    store: Store,
    account: Account,
    *,
    name: str,
    tenant: str | None = None,
    scopes: Iterable[str] | None = None,
    days: float | None = None,
    also: Also[Token] | None = None,
) -> tuple[str, Token]:
    """The secret, which is nowhere else from then on, and the token as lists show it. `also` is part of the transaction."""
    allowed = scopes_of_account(account.admin)
    granted = check_scopes(allowed if scopes is None else scopes, allowed)
    acts_for = tenant if tenant is not None else next(iter(account.tenants), None)
    if acts_for is None or acts_for not in account.tenants:
        raise SchemaInvalid(f"{account.name} does not belong to tenant {(acts_for or '')[:60]!r}", path="tenant")
    token_id, secret, label, lasts = uuid7(), draw_token(), check_label("name", name), _check_days(days)

    async def unit(tx: Tx) -> Token:
        if not await tx.fetch("account_lock", id=account.id):
            raise AccountNotFound(f"there is no account {account.name!r} any more")
        if not await tx.fetch("token_owner", id=token_id):
            await tx.execute(
                "token_add", id=token_id, hash=digest(secret), prefix=prefix_of(secret), name=label,
                account_id=account.id, tenant=acts_for, scopes=" ".join(granted), now=tx.now,
                expires_at=None if lasts is None else tx.now + timedelta(days=lasts),
            )  # fmt: skip
        before = token_id[:-1]  # pages begin after an id: this one sorts right before it
        return token_from((await tx.fetch("tokens_of", account_id=account.id, after=before, limit=1))[0])

    return secret, await store.run(together(unit, also))


async def page(store: Store, *, account_id: str | None = None, after: str | None = None, limit: int = 100) -> list[Token]:
    """One account's tokens, or everybody's."""

    async def unit(tx: Tx) -> list[Token]:
        if account_id is None:
            rows = await tx.fetch("tokens_all", after=after or "", limit=limit)
        else:
            rows = await tx.fetch("tokens_of", account_id=account_id, after=after or "", limit=limit)
        return [token_from(row) for row in rows]

    return await store.read(unit)


async def revoke(store: Store, token_id: str, *, account_id: str | None = None, also: Also[str] | None = None) -> str:
    """Ends it at once, and answers its name. With an account, somebody else's is not found. `also` is part of the
    transaction."""

    async def unit(tx: Tx) -> str:
        rows = await tx.fetch("token_owner", id=token_id)
        if not rows or account_id not in (None, rows[0]["account_id"]):
            raise AccountNotFound("there is no such token")
        await tx.execute("token_delete", id=token_id)
        return str(rows[0]["name"])

    return await store.run(together(unit, also))


async def principal_of(store: Store, secret: str) -> Principal | None:
    """Whose token it is, if it still holds; noted as used at most once a minute."""
    if not secret.startswith(TOKEN_MARK):
        return None
    hashed = digest(secret)

    async def look(tx: Tx) -> tuple[Principal, bool] | None:
        rows = await tx.fetch("token_by_hash", hash=hashed, now=tx.now)
        if not rows:
            return None
        belongs = (await tenants_of(tx, [rows[0]["account_id"]])).get(rows[0]["account_id"], ())
        if rows[0]["tenant"] not in belongs:  # no longer a member
            return None
        used = moment(rows[0]["last_used_at"])
        return _principal(rows[0], belongs), used is None or used <= tx.now - USED_EVERY

    found = await store.read(look)
    if found is None:
        return None
    principal, stale = found
    if stale:
        with suppress(StoreUnavailable):  # a disk that is full must not keep people from looking
            await store.run(lambda tx: _used(tx, principal))
    return principal


def _principal(row: Row, belongs: tuple[str, ...]) -> Principal:
    """An account that is no administrator any more takes the scope from its tokens."""
    scopes = frozenset(row["scopes"].split()) & scopes_of_account(bool(row["admin"]))
    return Principal(
        row["account_id"], row["name"], row["tenant"], belongs, ADMIN in scopes, scopes, "token", row["id"]
    )  # fmt: skip


async def _used(tx: Tx, principal: Principal) -> None:
    await tx.execute("token_used", id=principal.credential, now=tx.now)
    await tx.execute("account_seen", id=principal.account_id, now=tx.now)

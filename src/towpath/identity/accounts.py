"""Accounts and the tenants they belong to. Passwords come here already hashed.

Whoever changes something may add to its transaction by `also`, which is told the account.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from towpath.core.encoding import plain
from towpath.core.errors import SchemaInvalid
from towpath.core.ids import uuid7
from towpath.engine.registry import check_label
from towpath.identity.errors import AccountConflict, AccountNotFound
from towpath.identity.records import Account, account_from
from towpath.store.also import Also, together
from towpath.store.contract import Row, Store, Tx

LOCAL = "local"
"""The account of local mode. It never has a password, and no server that others can reach lets it in."""
_LONGEST_NAME = 200


def name_key(name: str) -> str:
    """One spelling for all that look or sound the same."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()


def check_account_name(name: str) -> str:
    if name != name.strip() or not 0 < len(name) <= _LONGEST_NAME or plain(name) != name or not name.isprintable():
        raise SchemaInvalid(
            f"must be 1 to {_LONGEST_NAME} printable characters with no space at the ends, got {name[:40]!r}", path="name"
        )
    return name


def check_tenants(tenants: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(check_label("tenants", tenant) for tenant in tenants))
    if not found:
        raise SchemaInvalid("an account belongs to at least one tenant", path="tenants")
    return found


async def create(
    store: Store,
    name: str,
    *,
    tenants: Iterable[str],
    admin: bool = False,
    password: str | None = None,
    also: Also[Account] | None = None,
) -> Account:
    """`password` is a hash. A name that is taken, in whatever spelling, is refused."""
    checked, belongs, account_id = check_account_name(name), check_tenants(tenants), uuid7()

    async def unit(tx: Tx) -> Account:
        return await add(tx, account_id, checked, belongs, admin=admin, password=password)

    return await store.run(together(unit, also))


async def add(
    tx: Tx, account_id: str, name: str, tenants: Sequence[str], *, admin: bool, password: str | None = None
) -> Account:
    key = name_key(name)
    taken = await tx.fetch("account_by_name", name_key=key)
    if taken and taken[0]["id"] != account_id:  # the same one: sent again after an unknown commit
        raise AccountConflict(f"there is already an account named {taken[0]['name']!r}")
    if not taken:
        await tx.execute(
            "account_add", id=account_id, name=name, name_key=key, admin=admin, password=password, now=tx.now
        )  # fmt: skip
        for tenant in tenants:
            await tx.execute("membership_add", account_id=account_id, tenant=tenant)
    return await _one(tx, (await tx.fetch("account_by_id", id=account_id))[0])


async def find(store: Store, account_id: str) -> Account:
    async def unit(tx: Tx) -> Account:
        return await _found(tx, await tx.fetch("account_by_id", id=account_id), account_id)

    return await store.read(unit)


async def find_by_name(store: Store, name: str) -> Account:
    async def unit(tx: Tx) -> Account:
        return await _found(tx, await tx.fetch("account_by_name", name_key=name_key(name)), name)

    return await store.read(unit)


async def page(store: Store, *, after: str | None = None, limit: int = 100) -> list[Account]:
    """In the order they were made; `after` is the last id of the page before."""

    async def unit(tx: Tx) -> list[Account]:
        rows = await tx.fetch("accounts_page", after=after or "", limit=limit)
        belongs = await tenants_of(tx, [row["id"] for row in rows])
        return [account_from(row, belongs.get(row["id"], ())) for row in rows]

    return await store.read(unit)


async def any_with_password(store: Store) -> bool:
    async def unit(tx: Tx) -> bool:
        return bool(await tx.fetch("account_with_password"))

    return await store.read(unit)


async def change(
    store: Store,
    account_id: str,
    *,
    admin: bool | None = None,
    disabled: bool | None = None,
    tenants: Iterable[str] | None = None,
    also: Also[Account] | None = None,
) -> Account:
    """Changes what is given. Disabling logs the account out everywhere; the last administrator stays one."""
    belongs = None if tenants is None else check_tenants(tenants)

    async def unit(tx: Tx) -> Account:
        before = await _found(tx, await _lock(tx, account_id), account_id)
        if admin is False or disabled:
            await _check_dispensable(tx, before)
        if admin is not None:
            await tx.execute("account_set_admin", id=account_id, admin=admin)
        if disabled:
            await tx.execute("account_disable", id=account_id, now=tx.now)
            await tx.execute("sessions_delete", account_id=account_id, but="")
            await tx.execute("links_delete", account_id=account_id)
        elif disabled is False:
            await tx.execute("account_enable", id=account_id)
        if belongs is not None:
            await tx.execute("memberships_delete", account_id=account_id)
            for tenant in belongs:
                await tx.execute("membership_add", account_id=account_id, tenant=tenant)
        return await _one(tx, (await tx.fetch("account_by_id", id=account_id))[0])

    return await store.run(together(unit, also))


async def join(store: Store, account_id: str, tenant: str) -> None:
    checked = check_label("tenant", tenant)
    await store.run(lambda tx: tx.execute("membership_add", account_id=account_id, tenant=checked))


async def delete(store: Store, account_id: str, *, also: Also[Account] | None = None) -> Account:
    """Removes the account with its sessions, tokens and links. Jobs belong to the tenant, and stay."""

    async def unit(tx: Tx) -> Account:
        before = await _found(tx, await _lock(tx, account_id), account_id)
        await _check_dispensable(tx, before)
        await tx.execute("sessions_delete", account_id=account_id, but="")
        for query in ("tokens_delete", "links_delete", "oidc_accounts_delete", "memberships_delete"):
            await tx.execute(query, account_id=account_id)
        await tx.execute("account_delete", id=account_id)
        return before

    return await store.run(together(unit, also))


async def tenants_of(tx: Tx, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for row in await tx.fetch("memberships", ids=list(ids)):
        found[row["account_id"]] = (*found.get(row["account_id"], ()), row["tenant"])
    return found


async def _lock(tx: Tx, account_id: str) -> Sequence[Row]:
    """Administrators first, in one order: whoever takes the role from somebody must know who is left."""
    await tx.fetch("admins_lock")
    return await tx.fetch("account_lock", id=account_id)


async def _check_dispensable(tx: Tx, account: Account) -> None:
    if account.name == LOCAL:
        raise AccountConflict("the account `local` belongs to local mode and stays as it is")
    if {row["id"] for row in await tx.fetch("admins_lock")} == {account.id}:
        raise AccountConflict("this is the last administrator; make somebody else one first")


async def _found(tx: Tx, rows: Sequence[Row], asked: str) -> Account:
    if not rows:
        raise AccountNotFound(f"there is no account {asked[:60]!r}")
    return await _one(tx, rows[0])


async def _one(tx: Tx, row: Row) -> Account:
    return account_from(row, (await tenants_of(tx, [row["id"]])).get(row["id"], ()))

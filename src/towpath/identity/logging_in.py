"""The ways in: by password, by one-time link, by choosing a new password. Each ends in a fresh session.

A refusal never says whether it was the name or the password, and takes as long either way.
"""

from __future__ import annotations

from towpath.core.errors import SchemaInvalid
from towpath.engine.app import App
from towpath.identity import devices, links, passwords, sessions, throttle
from towpath.identity.accounts import name_key
from towpath.identity.errors import LoginRefused
from towpath.identity.principal import Principal
from towpath.identity.secrets import digest
from towpath.identity.sessions import NewSession
from towpath.identity.throttle import Limit
from towpath.store.contract import Row, Tx


def _wrong() -> LoginRefused:
    return LoginRefused(
        "the name or the password is wrong",
        remedy="check both; an administrator can make a link by which you choose a new password",
    )


async def by_password(app: App, name: str, password: str, new: NewSession) -> Principal:
    store, key = app.services.store, name_key(name)

    async def ask(tx: Tx) -> tuple[Row | None, dict[str, Limit]]:
        known = new.device is not None and await devices.known(tx, new.device, key)
        limits = throttle.known_subjects(key, new.device or "") if known else throttle.subjects(key, new.address)
        await throttle.count(tx, limits)
        rows = await tx.fetch("account_by_name", name_key=key)
        return rows[0] if rows and rows[0]["disabled_at"] is None else None, limits

    account, limits = await store.run(ask)
    right, better = await passwords.verify(password, account["password"] if account else None)
    if account is None or not right:
        raise _wrong()

    async def enter(tx: Tx) -> Principal:
        locked = await tx.fetch("account_lock", id=account["id"])
        if not locked or locked[0]["password"] != account["password"]:  # changed while we looked
            raise _wrong()
        await throttle.forgive(tx, limits)
        principal = await sessions.begin(tx, new, locked[0], app.settings)
        if better is not None:
            await tx.execute("account_set_password", id=account["id"], password=better)
        return principal

    return await store.run(enter)


async def by_link(app: App, secret: str, new: NewSession) -> Principal:
    async def unit(tx: Tx) -> Principal:
        account = await links.use(tx, secret, "login", new.id)
        return await sessions.begin(tx, new, account, app.settings)

    return await app.services.store.run(unit)


async def by_reset(
    app: App, secret: str, password: str, new: NewSession, *, revoke_tokens: bool = True
) -> Principal:  # fmt: skip
    """Chooses a password by link. All other sessions of the account end, and its tokens unless they are to be kept: who
    needs such a link may have lost more than a password."""

    async def owner(tx: Tx) -> str:
        rows = await tx.fetch("link_owner", hash=digest(secret), purpose="reset", now=tx.now)
        if not rows:
            raise links.spent()
        return str(rows[0]["name"])

    passwords.check(password, await app.services.store.read(owner))
    hashed = await passwords.hashed(password)

    async def unit(tx: Tx) -> Principal:
        account = await links.use(tx, secret, "reset", new.id)
        await tx.execute("account_set_password", id=account["id"], password=hashed)
        await _end_others(tx, account["id"], revoke_tokens=revoke_tokens)
        return await sessions.begin(tx, new, account, app.settings)

    return await app.services.store.run(unit)


async def _end_others(tx: Tx, account_id: str, *, revoke_tokens: bool, but: str = "") -> None:
    await tx.execute("sessions_delete", account_id=account_id, but=but)
    await tx.execute("devices_delete", account_id=account_id)
    if revoke_tokens:
        await tx.execute("tokens_delete", account_id=account_id)


async def change_password(
    app: App, principal: Principal, current: str | None, new: str, *, revoke_tokens: bool = False
) -> None:
    """Needs the present password if there is one: a browser left open must not be enough. Other sessions end; tokens go
    on, unless they are not to: whoever knows the present password is in control."""
    store, limits = app.services.store, throttle.own_subjects(principal.account_id)

    async def ask(tx: Tx) -> str | None:
        await throttle.count(tx, limits)
        rows = await tx.fetch("account_by_id", id=principal.account_id)
        known: str | None = rows[0]["password"] if rows else None
        return known

    passwords.check(new, principal.name)
    known = await store.run(ask)
    if known is not None and not (await passwords.verify(current or "", known))[0]:
        raise SchemaInvalid("this is not the present password", path="current")
    hashed = await passwords.hashed(new)

    async def unit(tx: Tx) -> None:
        await tx.fetch("account_lock", id=principal.account_id)
        await throttle.forgive(tx, limits)
        await tx.execute("account_set_password", id=principal.account_id, password=hashed)
        await _end_others(tx, principal.account_id, revoke_tokens=revoke_tokens, but=principal.credential)
        await tx.execute("links_delete", account_id=principal.account_id)

    await store.run(unit)


async def set_password(app: App, account_id: str, name: str, password: str, *, revoke_tokens: bool) -> None:
    """For whoever looks after the installation: no questions, and every session ends."""
    hashed = await passwords.hashed(passwords.check(password, name))

    async def unit(tx: Tx) -> None:
        await tx.execute("account_set_password", id=account_id, password=hashed)
        await _end_others(tx, account_id, revoke_tokens=revoke_tokens)
        await tx.execute("links_delete", account_id=account_id)

    await app.services.store.run(unit)

"""Browser sessions: a random secret in a cookie, its hash in the database, so that each can be ended from anywhere."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from towpath.config import Settings
from towpath.core.encoding import plain
from towpath.core.errors import StoreUnavailable
from towpath.core.ids import uuid7
from towpath.core.moments import moment
from towpath.identity import devices
from towpath.identity.accounts import LOCAL, tenants_of
from towpath.identity.errors import LoginRefused
from towpath.identity.principal import Principal, scopes_of_account
from towpath.identity.records import OpenSession, session_from
from towpath.identity.secrets import digest, draw
from towpath.store.contract import Row, Store, Tx

TOUCH_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session about to begin. Made before its transaction, so that the transaction can be repeated."""

    id: str
    secret: str
    address: str | None = None
    agent: str | None = None
    replaces: str | None = None
    """The secret the browser had until now: it ends, so that nobody who planted it is logged in with us."""
    device: str | None = None
    """What the browser is known by so far."""
    new_device: str = field(default_factory=draw)
    """What it is known by from now on."""


def new_session(
    address: str | None = None, agent: str | None = None, replaces: str | None = None, device: str | None = None
) -> NewSession:
    return NewSession(uuid7(), draw(), address, plain(agent, 200) if agent else None, replaces, device)


async def begin(tx: Tx, new: NewSession, account: Row, settings: Settings) -> Principal:
    """Logs an account in. The account's row is to be locked by now."""
    belongs = (await tenants_of(tx, [account["id"]])).get(account["id"], ())
    if account["disabled_at"] is not None or not belongs:
        raise LoginRefused("this account cannot log in")
    if new.replaces is not None:
        await tx.execute("session_delete_hash", hash=digest(new.replaces))
    await tx.execute("sessions_forget", now=tx.now)
    await tx.execute(
        "session_add", id=new.id, hash=digest(new.secret), account_id=account["id"], tenant=belongs[0],
        address=new.address, agent=new.agent, now=tx.now, idle_until=_idle_until(tx.now, settings),
        expires_at=tx.now + timedelta(days=settings.session_days),
    )  # fmt: skip
    await devices.remember(tx, new.device, new.new_device, account["id"])
    await tx.execute("account_seen", id=account["id"], now=tx.now)
    return _principal(account["id"], account["name"], bool(account["admin"]), new.id, belongs, belongs[0])


def _idle_until(now: datetime, settings: Settings) -> datetime:
    return now + timedelta(hours=settings.session_idle_hours)


def _principal(account_id: str, name: str, admin: bool, session_id: str, belongs: tuple[str, ...], tenant: str) -> Principal:
    current = tenant if tenant in belongs else belongs[0]
    via = "local" if name == LOCAL else "session"
    return Principal(account_id, name, current, belongs, admin, scopes_of_account(admin), via, session_id)  # type: ignore[arg-type]  # one of the two


async def principal_of(store: Store, secret: str, settings: Settings) -> Principal | None:
    """Whose session it is, if it still holds; noted as used at most once a minute."""
    hashed = digest(secret)

    async def look(tx: Tx) -> tuple[Principal, bool] | None:
        rows = await tx.fetch("session_by_hash", hash=hashed, now=tx.now)
        if not rows:
            return None
        row = rows[0]
        belongs = (await tenants_of(tx, [row["account_id"]])).get(row["account_id"], ())
        if not belongs:
            return None
        found = _principal(row["account_id"], row["name"], bool(row["admin"]), row["id"], belongs, row["tenant"])
        return found, (moment(row["seen_at"]) or tx.now) <= tx.now - TOUCH_EVERY

    found = await store.read(look)
    if found is None:
        return None
    principal, stale = found
    if stale:
        with suppress(StoreUnavailable):  # a disk that is full must not keep people from looking
            await store.run(lambda tx: _touch(tx, principal, settings))
    return principal


async def _touch(tx: Tx, principal: Principal, settings: Settings) -> None:
    await tx.execute("session_touch", id=principal.credential, now=tx.now, idle_until=_idle_until(tx.now, settings))
    await tx.execute("account_seen", id=principal.account_id, now=tx.now)


async def sessions_of(store: Store, account_id: str) -> list[OpenSession]:
    async def unit(tx: Tx) -> list[OpenSession]:
        return [session_from(row) for row in await tx.fetch("sessions_of", account_id=account_id, now=tx.now)]

    return await store.read(unit)


async def end(store: Store, account_id: str, session_id: str) -> bool:
    """False if the account has no such session."""
    return bool(await store.run(lambda tx: tx.execute("session_delete", id=session_id, account_id=account_id)))


async def end_all(store: Store, account_id: str, *, but: str = "") -> int:
    return await store.run(lambda tx: tx.execute("sessions_delete", account_id=account_id, but=but))


async def switch(store: Store, session_id: str, tenant: str) -> None:
    """The caller has checked that it is one of the account's tenants; every later request checks it again."""
    await store.run(lambda tx: tx.execute("session_set_tenant", id=session_id, tenant=tenant))

"""One-time links: they log somebody in, or let somebody choose a password, once and not for long."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal
from urllib.parse import quote

from towpath.identity.errors import AccountNotFound, LoginRefused
from towpath.identity.secrets import digest, draw
from towpath.store.also import Also, together
from towpath.store.contract import Row, Store, Tx

Purpose = Literal["login", "reset"]
LASTS: dict[Purpose, timedelta] = {"login": timedelta(minutes=15), "reset": timedelta(hours=24)}
_PAGES: dict[Purpose, str] = {"login": "login", "reset": "reset"}


def url_of(base_url: str, purpose: Purpose, secret: str) -> str:
    return f"{base_url.rstrip('/')}/{_PAGES[purpose]}?token={quote(secret)}"


async def make(
    store: Store, account_id: str, purpose: Purpose, *, also: Also[datetime] | None = None
) -> tuple[str, datetime]:
    """The secret of a fresh link, and until when it holds. A new reset link ends older ones that were not used. `also` is
    part of the transaction."""
    secret = draw()

    async def unit(tx: Tx) -> datetime:
        rows = await tx.fetch("account_lock", id=account_id)
        if not rows or rows[0]["disabled_at"] is not None:
            raise AccountNotFound("there is no such account, or it is disabled")
        await tx.execute("links_forget", now=tx.now)
        if purpose == "reset":
            await tx.execute("links_delete_unused", account_id=account_id, purpose=purpose)
        until = tx.now + LASTS[purpose]
        await tx.execute(
            "link_add", hash=digest(secret), account_id=account_id, purpose=purpose, now=tx.now, expires_at=until
        )  # fmt: skip
        return until

    return secret, await store.run(together(unit, also))


async def use(tx: Tx, secret: str, purpose: Purpose, used_for: str) -> Row:
    """The account behind the link, locked; the link is spent with this transaction. `used_for` names what it was spent
    on, so that the same transaction can be sent again."""
    rows = await tx.fetch("link_use", hash=digest(secret), purpose=purpose, used_for=used_for, now=tx.now)
    accounts = await tx.fetch("account_lock", id=rows[0]["account_id"]) if rows else []
    if not accounts or accounts[0]["disabled_at"] is not None:
        raise spent()
    return accounts[0]


def spent() -> LoginRefused:
    return LoginRefused(
        "this link does not hold any more: it has been used, or it has expired",
        remedy="ask an administrator for a fresh one; on the server's own machine, `towpath login-link` prints one",
    )

"""Browsers that an account has been logged in from before, known by a cookie that outlasts the session.

It opens nothing. It only tells the true user from strangers who guess: their guesses do not count against a browser that
once had the right password. The secret changes with every log-in, so that one that was planted or copied is worth nothing
from then on.
"""

from __future__ import annotations

from datetime import timedelta

from towpath.identity.secrets import digest
from towpath.store.contract import Tx

LASTS = timedelta(days=365)


async def known(tx: Tx, secret: str | None, name_key: str) -> bool:
    return secret is not None and bool(await tx.fetch("device_known", hash=digest(secret), name_key=name_key))


async def remember(tx: Tx, was: str | None, secret: str, account_id: str) -> None:
    """The browser keeps what it was known for to other accounts."""
    if was is not None:
        await tx.execute("device_rename", hash=digest(secret), was=digest(was))
    await tx.execute("device_add", hash=digest(secret), account_id=account_id, now=tx.now)
    await tx.execute("devices_forget", before=tx.now - LASTS)

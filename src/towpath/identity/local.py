"""The mode without passwords: one person, one machine. A session is needed even so, and a one-time link gives it."""

from __future__ import annotations

from towpath.core.errors import ConfigurationError
from towpath.core.ids import uuid7
from towpath.core.records import DEFAULT_TENANT
from towpath.engine.app import App
from towpath.identity import accounts, links
from towpath.identity.accounts import LOCAL
from towpath.identity.records import Account
from towpath.outbound.addresses import is_loopback
from towpath.store.contract import Tx

MAKE_ACCOUNT = "towpath users create NAME --admin"


async def ensure_local_account(app: App) -> Account:
    """The account `local`, an administrator of tenant `default`; made if it is not there yet."""
    account_id = uuid7()

    async def unit(tx: Tx) -> str:
        rows = await tx.fetch("account_by_name", name_key=accounts.name_key(LOCAL))
        if rows:
            return str(rows[0]["id"])
        return (await accounts.add(tx, account_id, LOCAL, [DEFAULT_TENANT], admin=True)).id

    return await accounts.find(app.services.store, await app.services.store.run(unit))


async def make_login_link(app: App, base_url: str, name: str = LOCAL) -> str:
    """A link that logs the account in, once, within a quarter of an hour."""
    account = await accounts.find_by_name(app.services.store, name)
    secret, _ = await links.make(app.services.store, account.id, "login")
    return links.url_of(base_url, "login", secret)


async def has_password_account(app: App) -> bool:
    return await accounts.any_with_password(app.services.store)


def check_host(host: str, has_password_account: bool, allowed_hosts: str = "", *, remedy: str = MAKE_ACCOUNT) -> bool:
    """Whether a server bound to this host runs in local mode. One that others can reach, directly or under the names of
    `allowed_hosts`, needs an account with a password first."""
    if is_loopback(host) and not allowed_hosts:
        return True
    if not has_password_account:
        reached = f"on {host}" if not is_loopback(host) else f"as {allowed_hosts}"
        raise ConfigurationError(
            f"others can reach the server {reached}, and no account has a password yet; make one first: {remedy}"
        )
    return False

"""A server that others could reach, and nobody could log in to, is refused before anything is written: no folder, no
database, no table."""

from __future__ import annotations

from towpath import wiring
from towpath.cli.data import exists, options_for
from towpath.cli.words import program
from towpath.core.errors import StoreUnavailable
from towpath.engine.app import App
from towpath.identity import accounts
from towpath.identity.local import check_host
from towpath.identity.slice import SLICE
from towpath.outbound.addresses import is_loopback
from towpath.store.contract import Store
from towpath.store.migrating import pending


async def refuse_strangers(app: App, host: str) -> None:
    """Raises ConfigurationError with what to do first. A database that does not answer yet is asked again when it does."""
    if is_loopback(host) and not app.settings.allowed_hosts:
        return
    try:
        has_account = exists(app.url) and await _has_account(app)
    except StoreUnavailable:
        return
    check_host(host, has_account, app.settings.allowed_hosts, remedy=how_to_let_in(app))


def how_to_let_in(app: App) -> str:
    return f"{program()} users create NAME --admin{options_for(app.url)}"


async def _has_account(app: App) -> bool:
    store: Store = wiring.make_store(app.url, app.settings)
    await store.open()
    try:
        if await pending(store, [SLICE]):
            return False
        if SLICE.queries is not None:
            store.queries.load(SLICE.queries)
        return await accounts.any_with_password(store)
    finally:
        await store.close()

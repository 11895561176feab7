"""One log-in through the provider, from the browser's leaving to its coming back.

The state ties the way back to the way out, and to the browser by a cookie, so that nobody can be logged in as somebody
else by following a link. It is used once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from towpath.core.ids import uuid7
from towpath.engine.app import App
from towpath.identity import accounts, sessions
from towpath.identity.errors import AccountConflict, LoginRefused
from towpath.identity.oidc.provider import Provider
from towpath.identity.oidc.rules import is_allowed, name_for
from towpath.identity.principal import Principal
from towpath.identity.secrets import digest, draw
from towpath.identity.sessions import NewSession
from towpath.store.contract import Row, Tx

LASTS = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class LoginStart:
    """Where the browser is sent, and the secret it keeps in a cookie meanwhile."""

    url: str
    browser: str


async def begin(app: App, provider: Provider, redirect_uri: str) -> LoginStart:
    from authlib.common.urls import add_params_to_uri  # type: ignore[import-untyped]  # it has none
    from authlib.oauth2.rfc7636 import create_s256_code_challenge  # type: ignore[import-untyped]  # it has none

    metadata = await provider.metadata()
    state, browser, nonce, verifier = draw(), draw(), draw(), draw()

    async def unit(tx: Tx) -> None:
        await tx.execute("oidc_flows_forget", now=tx.now)
        await tx.execute(
            "oidc_flow_add", state_hash=digest(state), browser_hash=digest(browser), nonce=nonce, verifier=verifier,
            expires_at=tx.now + LASTS,
        )  # fmt: skip

    await app.services.store.run(unit)
    asked = {
        "response_type": "code", "client_id": provider.client_id, "redirect_uri": redirect_uri,
        "scope": "openid email profile", "state": state, "nonce": nonce,
        "code_challenge": create_s256_code_challenge(verifier), "code_challenge_method": "S256",
    }  # fmt: skip
    return LoginStart(add_params_to_uri(metadata["authorization_endpoint"], list(asked.items())), browser)


async def finish(  # noqa: PLR0917  (what the browser brings back, and where it goes)
    app: App, provider: Provider, redirect_uri: str, code: str, state: str, browser: str, new: NewSession
) -> Principal:
    """Logs in whoever the provider says it is; makes the account if the rule of the settings has room for them."""

    async def take(tx: Tx) -> Row | None:
        rows = await tx.fetch(
            "oidc_flow_take", state_hash=digest(state), browser_hash=digest(browser), now=tx.now
        )  # fmt: skip
        return rows[0] if rows else None

    flow = await app.services.store.run(take)
    if flow is None:
        raise LoginRefused("this log-in was not begun in this browser, or too long ago")
    claims = await provider.claims(await provider.redeem(code, flow["verifier"], redirect_uri), flow["nonce"])
    if not is_allowed(claims, app.settings.oidc_allowed):
        raise LoginRefused("the provider knows this person, but the rule in TOWPATH_OIDC_ALLOWED does not let them in")
    return await _enter(app, provider.issuer, claims, new)


async def _enter(app: App, issuer: str, claims: dict[str, Any], new: NewSession) -> Principal:
    subject, account_id, name = str(claims["sub"]), uuid7(), name_for(claims)

    async def unit(tx: Tx) -> Principal:
        known = await tx.fetch("oidc_account_of", issuer=issuer, subject=subject)
        if not known:
            await accounts.add(
                tx, account_id, accounts.check_account_name(name), [app.settings.oidc_tenant], admin=False
            )  # fmt: skip
            await tx.execute("oidc_account_add", issuer=issuer, subject=subject, account_id=account_id, now=tx.now)
        rows = await tx.fetch("account_lock", id=known[0]["account_id"] if known else account_id)
        if not rows:
            raise LoginRefused("this account cannot log in")
        return await sessions.begin(tx, new, rows[0], app.settings)

    try:
        return await app.services.store.run(unit)
    except AccountConflict:  # never taken over by a name that somebody chose elsewhere
        raise LoginRefused("an account of this name exists already, and is not linked to this provider") from None

"""From a request to its principal: by API token or by session cookie, looked up once per request."""

from __future__ import annotations

from fastapi import Request

from towpath.http.cookies import COOKIE
from towpath.http.facts import facts_in
from towpath.http.state import app_of, exposure_of
from towpath.identity import sessions, tokens
from towpath.identity.accounts import LOCAL
from towpath.identity.principal import Principal


async def authenticate(request: Request) -> Principal | None:
    """Who calls; None is nobody. A token that does not hold is nobody, even beside a good cookie."""
    facts = facts_in(request.scope)
    if not facts.asked:
        facts.principal, facts.asked = await _look_up(request), True
    return facts.principal


async def _look_up(request: Request) -> Principal | None:
    app, header = app_of(request), request.headers.get("authorization")
    if header is not None:
        kind, _, secret = header.partition(" ")
        found = await tokens.principal_of(app.services.store, secret.strip()) if kind.lower() == "bearer" else None
    else:
        cookie = request.cookies.get(COOKIE)
        found = await sessions.principal_of(app.services.store, cookie, app.settings) if cookie else None
    if found is not None and found.name == LOCAL and not exposure_of(request).local:
        return None  # the account without a password is for servers on loopback only
    return found


async def still_holds(request: Request, principal: Principal) -> bool:
    """Whether what the request came with is still good, and for the same tenant and scopes; for answers that last, such
    as streams. Somebody who listens uses the session."""
    return await _look_up(request) == principal

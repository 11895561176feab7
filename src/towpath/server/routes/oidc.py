"""Logging in through an OpenID Connect provider. Both routes are visited by browsers, so both answer with a redirect."""

from __future__ import annotations

import logging

from fastapi import Query, Request
from fastapi.responses import RedirectResponse

from towpath.core.errors import TowpathError
from towpath.http.audit import audit
from towpath.http.cookies import set_cookie, set_session
from towpath.http.policy import Anyone, Arriving
from towpath.http.problems import Problem, problem_of, responses
from towpath.http.routing import Router
from towpath.http.state import Engine, app_of, base_url_of
from towpath.identity.errors import LoginRefused
from towpath.identity.oidc import flow
from towpath.identity.oidc.provider import Provider, provider_from
from towpath.server.routes.session import beginning

log = logging.getLogger("towpath.http")
router = Router(prefix="/api/auth/oidc", tags=["session"])

COOKIE = "towpath_oidc"


def _provider(request: Request) -> Provider:
    state = request.app.state
    if not hasattr(state, "towpath_oidc"):
        state.towpath_oidc = provider_from(app_of(request).settings)
    found: Provider | None = state.towpath_oidc
    if found is None:
        raise Problem("not_found", 404, "this server has no OpenID provider to log in with")
    return found


def _callback(request: Request) -> str:
    return f"{base_url_of(request)}/api/auth/oidc/callback"


@router.get(
    "/login", operation_id="begin_oidc_login", status_code=303, response_class=RedirectResponse, responses=responses(404)
)
async def begin_oidc_login(_anyone: Anyone, app: Engine, request: Request) -> RedirectResponse:
    """Sends the browser to the provider."""
    departure = await flow.begin(app, _provider(request), _callback(request))
    response = RedirectResponse(departure.url, 303)
    set_cookie(request, response, COOKIE, departure.browser, round(flow.LASTS.total_seconds()))
    return response


@router.get(
    "/callback", operation_id="finish_oidc_login", status_code=303, response_class=RedirectResponse, responses=responses(404)
)
async def finish_oidc_login(
    _arriving: Arriving,
    app: Engine,
    request: Request,
    code: str = Query("", max_length=4000),
    state: str = Query("", max_length=500),
    error: str = Query("", max_length=500),
    iss: str = Query("", max_length=2000),
) -> RedirectResponse:
    """Where the provider sends the browser back to: on into the UI, or to the log-in page with the name of a problem."""
    provider = _provider(request)
    root = str(request.scope.get("root_path", "")).rstrip("/")
    new = beginning(request)
    try:
        if error or not code or (iss and iss != provider.issuer):
            raise LoginRefused(f"the provider sent the browser back without a code: {error[:100] or 'no reason given'}")
        browser = request.cookies.get(COOKIE, "")
        principal = await flow.finish(app, provider, _callback(request), code, state, browser, new)
    except TowpathError as refused:
        log.warning("a log-in through the OpenID provider was refused: %s", refused)
        problem = problem_of(refused)
        response = RedirectResponse(f"{root}/login?problem={problem.slug if problem else 'internal'}", 303)
    else:
        audit(request, "session.login_by_oidc", principal.name, principal=principal)
        response = RedirectResponse(f"{root}/", 303)
        set_session(request, response, new, app.settings)
    set_cookie(request, response, COOKIE, "", 0)
    return response

"""Logging in and out, and what belongs to one's own session."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import Query, Request, Response

from towpath.engine.app import App
from towpath.http.audit import audit
from towpath.http.authentication import authenticate
from towpath.http.cookies import COOKIE, DEVICE, clear_session, set_session
from towpath.http.facts import facts_in
from towpath.http.policy import Anyone, Caller, require_session
from towpath.http.problems import Problem, not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine, app_of, exposure_of
from towpath.identity import accounts, logging_in, sessions
from towpath.identity.errors import AccountNotFound, LoginRefused
from towpath.identity.principal import SCOPES, Principal
from towpath.identity.sessions import NewSession, new_session
from towpath.server.schemas.session import (
    Credentials,
    LinkToken,
    Methods,
    OpenSession,
    PasswordChange,
    PasswordReset,
    Session,
    SessionAccount,
    TenantChoice,
)
from towpath.server.streams import reconsider_streams
from towpath.version import __version__

router = Router(prefix="/api", tags=["session"])


def shown(principal: Principal, request: Request) -> Session:
    return Session(
        account=SessionAccount(id=principal.account_id, name=principal.name, admin=principal.admin),
        tenant=principal.tenant,
        tenants=list(principal.tenants),
        scopes=[scope for scope in SCOPES if principal.may(scope)],  # type: ignore[misc]  # they are these four
        local=exposure_of(request).local,
        version=__version__,
    )


def beginning(request: Request) -> NewSession:
    cookies, agent = request.cookies, request.headers.get("user-agent")
    return new_session(facts_in(request.scope).address, agent, cookies.get(COOKIE), cookies.get(DEVICE))


def welcome(request: Request, response: Response, new: NewSession, principal: Principal, action: str) -> Session:
    """The browser gets its cookie, and the audit log its line."""
    if principal.via == "local" and not exposure_of(request).local:
        raise LoginRefused("the account `local` is for servers on loopback only; log in with an account of your own")
    audit(request, action, principal.name, principal=principal)
    set_session(request, response, new, app_of(request).settings)
    return shown(principal, request)


@router.get("/session", operation_id="get_session")
async def get_session(principal: Caller, request: Request) -> Session:
    """Who is logged in."""
    return shown(principal, request)


@router.post("/session", operation_id="log_in", responses=responses(401, 429))
async def log_in(_anyone: Anyone, app: Engine, request: Request, response: Response, asked: Credentials) -> Session:
    """Logs in by password; the answer sets the session's cookie. Too many attempts are refused for a while."""
    new = beginning(request)
    try:
        principal = await logging_in.by_password(app, asked.name, asked.password, new)
    except LoginRefused:
        # Not the name as given: people type their password there now and then.
        audit(request, "session.refused", await _known_name(app, asked.name))
        raise
    return welcome(request, response, new, principal, "session.login")


async def _known_name(app: App, name: str) -> str | None:
    try:
        return (await accounts.find_by_name(app.services.store, name)).name
    except AccountNotFound:
        return None


@router.delete("/session", operation_id="log_out", status_code=204)
async def log_out(
    _anyone: Anyone,
    app: Engine,
    request: Request,
    everywhere: Annotated[bool, Query(description="End all sessions of the account, not only this one.")] = False,
) -> Response:
    """Ends the session. That there is none is no error."""
    principal = await authenticate(request)
    if principal is not None and principal.via != "token":
        if everywhere:
            await sessions.end_all(app.services.store, principal.account_id)
        else:
            await sessions.end(app.services.store, principal.account_id, principal.credential)
        audit(request, "session.logout", principal.name, everywhere=everywhere)
        reconsider_streams(request)
    response = Response(status_code=204)
    clear_session(request, response)
    return response


@router.post("/session/link", operation_id="log_in_by_link", responses=responses(401))
async def log_in_by_link(_anyone: Anyone, app: Engine, request: Request, response: Response, asked: LinkToken) -> Session:
    """Logs in by a one-time link."""
    new = beginning(request)
    principal = await logging_in.by_link(app, asked.token, new)
    return welcome(request, response, new, principal, "session.login_by_link")


@router.post("/session/reset", operation_id="reset_password", responses=responses(401))
async def reset_password(
    _anyone: Anyone, app: Engine, request: Request, response: Response, asked: PasswordReset
) -> Session:  # fmt: skip
    """Chooses a password by a one-time link, and logs in. Every other session of the account ends, and its API tokens too
    unless `revoke_tokens` is false."""
    new = beginning(request)
    principal = await logging_in.by_reset(app, asked.token, asked.password, new, revoke_tokens=asked.revoke_tokens)
    reconsider_streams(request)
    return welcome(request, response, new, principal, "password.reset")


@router.post("/session/tenant", operation_id="switch_tenant")
async def switch_tenant(principal: Caller, app: Engine, request: Request, asked: TenantChoice) -> Session:
    """From now on the session acts for another one of the account's tenants."""
    require_session(principal)
    if asked.tenant not in principal.tenants:
        raise Problem("forbidden", 403, "the account does not belong to this tenant")
    await sessions.switch(app.services.store, principal.credential, asked.tenant)
    audit(request, "session.tenant", asked.tenant)
    facts = facts_in(request.scope)
    facts.principal = await sessions.principal_of(app.services.store, request.cookies.get(COOKIE, ""), app.settings)
    return shown(facts.principal or principal, request)


@router.post("/session/password", operation_id="change_password", status_code=204, responses=responses(429))
async def change_password(principal: Caller, app: Engine, request: Request, asked: PasswordChange) -> Response:
    """Changes one's own password. All other sessions of the account end; its API tokens with `revoke_tokens`."""
    require_session(principal)
    if principal.via == "local":
        raise Problem(
            "forbidden", 403, "the account `local` has no password", remedy="make an account: towpath users create"
        )
    await logging_in.change_password(app, principal, asked.current, asked.new, revoke_tokens=asked.revoke_tokens)
    audit(request, "password.change", principal.name, revoked=asked.revoke_tokens)
    reconsider_streams(request)
    return Response(status_code=204)


@router.get("/sessions", operation_id="list_sessions")
async def list_sessions(principal: Caller, app: Engine) -> list[OpenSession]:
    """The browsers that are logged in with this account, the one used last first."""
    require_session(principal)
    return [
        OpenSession(**asdict(item), current=item.id == principal.credential)
        for item in await sessions.sessions_of(app.services.store, principal.account_id)
    ]


@router.delete("/sessions/{session_id}", operation_id="end_session", status_code=204, responses=responses(404))
async def end_session(principal: Caller, app: Engine, request: Request, session_id: UUID) -> Response:
    """Logs one browser of this account out."""
    require_session(principal)
    if not await sessions.end(app.services.store, principal.account_id, str(session_id)):
        raise not_found("there is no such session")
    audit(request, "session.end", str(session_id))
    reconsider_streams(request)
    return Response(status_code=204)


@router.get("/auth/methods", operation_id="get_login_methods")
async def get_login_methods(_anyone: Anyone, app: Engine, request: Request) -> Methods:
    """How one can log in here; for the log-in page."""
    local = exposure_of(request).local
    password = not local or await accounts.any_with_password(app.services.store)
    return Methods(password=password, oidc=bool(app.settings.oidc_issuer), local=local)

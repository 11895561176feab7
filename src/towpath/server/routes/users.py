"""Accounts; for administrators."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Path, Request, Response

from towpath.http.audit import audited, note
from towpath.http.policy import Admin
from towpath.http.problems import conflict, responses
from towpath.http.routing import Router
from towpath.http.state import Engine, base_url_of
from towpath.identity import accounts, links, passwords
from towpath.identity.principal import Principal
from towpath.identity.records import Account
from towpath.server.routes.tokens import After, Limit
from towpath.server.schemas.base import Page
from towpath.server.schemas.users import NewUser, ResetLink, User, UserChange
from towpath.server.streams import reconsider_streams
from towpath.store.also import Also

router = Router(prefix="/api/users", tags=["users"])

UserId = Annotated[UUID, Path(description="The account's id.")]


@router.get("", operation_id="list_users")
async def list_users(_principal: Admin, app: Engine, after: After = None, limit: Limit = 100) -> Page[User]:
    """Every account, in the order they were made."""
    found = await accounts.page(app.services.store, after=after, limit=limit)
    return Page(items=[_shown(item) for item in found], next=found[-1].id if len(found) == limit else None)


@router.post("", operation_id="create_user", status_code=201, responses=responses(409))
async def create_user(_principal: Admin, app: Engine, request: Request, asked: NewUser) -> User:
    """Makes an account. Without a password, a reset link lets the user choose one."""
    hashed = None
    if asked.password is not None:
        hashed = await passwords.hashed(passwords.check(asked.password, asked.name))
    line: Also[Account] = audited(
        request,
        lambda made: note("user.create", made.id, name=made.name, admin=made.admin, tenants=list(made.tenants)),
    )
    made = await accounts.create(
        app.services.store, asked.name, tenants=asked.tenants, admin=asked.admin, password=hashed, also=line
    )  # fmt: skip
    return _shown(made)


@router.patch("/{user_id}", operation_id="update_user", responses=responses(404, 409))
async def update_user(principal: Admin, app: Engine, request: Request, user_id: UserId, asked: UserChange) -> User:
    """Changes an account's role or tenants, or disables it, which logs it out everywhere."""
    if asked.admin is False or asked.disabled:
        _refuse_oneself(principal, user_id)
    changes = asked.model_dump(exclude_none=True)
    line: Also[Account] = audited(request, lambda made: note("user.update", made.id, name=made.name, **changes))
    changed = await accounts.change(app.services.store, str(user_id), **changes, also=line)
    reconsider_streams(request)
    return _shown(changed)


@router.delete("/{user_id}", operation_id="delete_user", status_code=204, responses=responses(404, 409))
async def delete_user(principal: Admin, app: Engine, request: Request, user_id: UserId) -> Response:
    """Removes an account with its sessions and tokens. Its tenants' jobs stay."""
    _refuse_oneself(principal, user_id)
    line: Also[Account] = audited(request, lambda gone: note("user.delete", gone.id, name=gone.name))
    await accounts.delete(app.services.store, str(user_id), also=line)
    reconsider_streams(request)
    return Response(status_code=204)


@router.post("/{user_id}/reset-link", operation_id="create_reset_link", responses=responses(404, 409))
async def create_reset_link(_principal: Admin, app: Engine, request: Request, user_id: UserId) -> ResetLink:
    """A link by which the user chooses a new password. It works once, within a day, and ends older ones."""
    account = await accounts.find(app.services.store, str(user_id))
    if account.name == accounts.LOCAL:
        raise conflict("the account `local` never has a password", remedy="towpath login-link prints its links")
    if account.disabled:
        raise conflict("the account is disabled", remedy="enable it first")
    line = audited(request, lambda _: note("user.reset_link", account.id, name=account.name))
    secret, until = await links.make(app.services.store, account.id, "reset", also=line)
    return ResetLink(url=links.url_of(base_url_of(request), "reset", secret), expires_at=until)


def _refuse_oneself(principal: Principal, user_id: UUID) -> None:
    if principal.account_id == str(user_id):
        raise conflict("this is your own account", remedy="ask another administrator")


def _shown(item: Account) -> User:
    return User.model_validate(item, from_attributes=True)

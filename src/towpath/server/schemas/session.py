"""Logging in, and who is logged in."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from towpath.server.schemas.base import Answer, Label, Moment, Request, Text

_Secret = Annotated[Text, Field(min_length=1, max_length=512)]


class SessionAccount(Answer):
    id: str
    name: str
    admin: bool


class Session(Answer):
    """Who is logged in, for which tenant, and what they may do."""

    account: SessionAccount
    tenant: Annotated[str, Field(description="The tenant this session or token acts for.")]
    tenants: Annotated[list[str], Field(description="Those it could switch to.")]
    scopes: list[Literal["read", "write", "priority", "admin"]]
    local: Annotated[bool, Field(description="The mode without passwords, on loopback.")]
    version: Annotated[str, Field(description="The server's version.")]


class OpenSession(Answer):
    """A browser that is logged in."""

    id: str
    tenant: str
    address: str | None
    agent: Annotated[str | None, Field(description="What the browser calls itself.")]
    created_at: Moment
    seen_at: Moment
    current: Annotated[bool, Field(description="The one this request was made with.")]


class Credentials(Request):
    name: Annotated[Text, Field(min_length=1, max_length=200)]
    password: _Secret


class LinkToken(Request):
    token: Annotated[_Secret, Field(description="What follows `token=` in the link.")]


class TenantChoice(Request):
    tenant: Label


class PasswordChange(Request):
    current: Annotated[_Secret | None, Field(description="Needed if the account has a password.")] = None
    new: _Secret
    revoke_tokens: Annotated[bool, Field(description="Also end the account's API tokens.")] = False


class PasswordReset(Request):
    token: Annotated[_Secret, Field(description="What follows `token=` in the link.")]
    password: _Secret
    revoke_tokens: Annotated[bool, Field(description="Also end the account's API tokens.")] = True


class Methods(Answer):
    """How one can log in here."""

    password: bool
    oidc: bool
    local: Annotated[bool, Field(description="By the link that `towpath login-link` prints.")]

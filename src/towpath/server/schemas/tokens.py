"""API tokens."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from towpath.server.schemas.base import Answer, Label, Moment, Request

Scope = Literal["read", "write", "priority", "admin"]


class Token(Answer):
    id: str
    name: str
    account: Annotated[str, Field(description="The name of the account it belongs to.")]
    tenant: Annotated[str, Field(description="The tenant it acts for.")]
    scopes: list[Scope]
    prefix: Annotated[str, Field(description="How it begins, to tell it from others.")]
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Annotated[Moment | None, Field(description="To the minute.")]


class NewToken(Token):
    token: Annotated[str, Field(description="The token itself. It is shown this once.")]


class TokenRequest(Request):
    name: Annotated[Label, Field(description="What it is for.")]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=4)]
    tenant: Annotated[Label | None, Field(description="One of your tenants; the session's own if it is left out.")] = None
    days: Annotated[float | None, Field(gt=0, le=3650, description="Until it expires; never if it is left out.")] = None

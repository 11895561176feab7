"""Accounts, as administrators see them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from towpath.server.schemas.base import Answer, Label, Moment, Request, Text


class User(Answer):
    id: str
    name: str
    admin: bool
    tenants: list[str]
    created_at: Moment
    last_seen_at: Annotated[Moment | None, Field(description="To the minute.")]
    disabled: bool
    has_password: bool


_Tenants = Annotated[list[Label], Field(min_length=1, max_length=100)]


class NewUser(Request):
    name: Annotated[Text, Field(min_length=1, max_length=200)]
    tenants: _Tenants
    admin: bool = False
    password: Annotated[
        Text | None, Field(min_length=1, max_length=512, description="Left out: the user chooses one by a reset link.")
    ] = None


class UserChange(Request):
    """What is left out stays as it is."""

    admin: bool | None = None
    disabled: bool | None = None
    tenants: _Tenants | None = None


class ResetLink(Answer):
    """A link by which a user chooses a password, once."""

    url: str
    expires_at: Moment

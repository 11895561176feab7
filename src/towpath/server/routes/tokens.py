"""API tokens: one's own, and for administrators everybody's."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Query, Request, Response

from towpath.http.audit import audited, note
from towpath.http.policy import Reader, Writer
from towpath.http.problems import Problem, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.identity import accounts, tokens
from towpath.identity.principal import Principal
from towpath.identity.records import Token as KeptToken
from towpath.server.schemas.base import Page, Text
from towpath.server.schemas.tokens import NewToken, Token, TokenRequest
from towpath.server.streams import reconsider_streams
from towpath.store.also import Also

router = Router(prefix="/api/tokens", tags=["tokens"])

After = Annotated[Text | None, Query(max_length=100, description="`next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=200)]


@router.get("", operation_id="list_tokens")
async def list_tokens(principal: Reader, app: Engine, after: After = None, limit: Limit = 100) -> Page[Token]:
    """One's own tokens, in the order they were made; administrators see everybody's."""
    owner = None if principal.admin else principal.account_id
    found = await tokens.page(app.services.store, account_id=owner, after=after, limit=limit)
    return Page(items=[_shown(item) for item in found], next=found[-1].id if len(found) == limit else None)


@router.post("", operation_id="create_token", status_code=201)
async def create_token(principal: Writer, app: Engine, request: Request, asked: TokenRequest) -> NewToken:
    """Makes a token for one's own account. It can do no more than whoever makes it."""
    _may_make(principal)
    tokens.check_scopes(asked.scopes, principal.scopes)
    account = await accounts.find(app.services.store, principal.account_id)
    line: Also[KeptToken] = audited(
        request, lambda made: note("token.create", made.id, tenant=made.tenant, name=made.name, scopes=list(made.scopes))
    )
    secret, made = await tokens.create(
        app.services.store, account, name=asked.name, tenant=asked.tenant or principal.tenant, scopes=asked.scopes,
        days=asked.days, also=line,
    )  # fmt: skip
    return NewToken(**_shown(made).model_dump(), token=secret)


@router.delete("/{token_id}", operation_id="revoke_token", status_code=204, responses=responses(404))
async def revoke_token(principal: Writer, app: Engine, request: Request, token_id: UUID) -> Response:
    """Ends a token at once."""
    owner = None if principal.admin else principal.account_id
    line = audited(request, lambda name: note("token.revoke", str(token_id), name=name))
    await tokens.revoke(app.services.store, str(token_id), account_id=owner, also=line)
    reconsider_streams(request)
    return Response(status_code=204)


def _may_make(principal: Principal) -> None:
    """A token that got lost must not have left others behind."""
    if principal.via == "token" and not principal.admin:
        raise Problem(
            "forbidden", 403, "a token cannot make tokens unless it has the scope 'admin'",
            remedy="make it in the UI, or by: towpath token create",
        )  # fmt: skip


def _shown(item: KeptToken) -> Token:
    return Token.model_validate(item, from_attributes=True)

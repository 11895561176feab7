"""Search: passages that answer, a passage in its place, and what is named."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from pydantic import Field

from towpath import search
from towpath.http import shapes
from towpath.http.policy import Reader, tenant_of
from towpath.http.problems import Problem, not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.identity.principal import Principal
from towpath.knowledge import schemas
from towpath.knowledge.scope import Scope
from towpath.knowledge.shaping import passage_shape, result_shape

router = Router(prefix="/api/documents", tags=["knowledge"])

Cursor = Annotated[str | None, Field(pattern=r"^[0-9]{1,8}$", description="The `next` of the page before.")]
Tenant = Annotated[shapes.Label | None, Field(description="For admins; everybody else sees their own tenant.")]
PassagePath = Annotated[str, Path(description="The passage's id, as results have it.", max_length=600)]


class SearchQuery(shapes.Request):
    q: Annotated[schemas.Question, Field(description='Words, "a phrase", -unwanted; also a whole question.')]
    run: schemas.Run = None
    type: schemas.Type = None
    entity: schemas.Entity = None
    kind: schemas.Kind = None
    document_id: schemas.OneDocument = None
    recording_id: schemas.OneRecording = None
    how: Annotated[search.How, Field(description="By words, by meaning, or both.")] = "both"
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    cursor: Cursor = None
    tenant: Tenant = None


class EntityQuery(shapes.Request):
    type: Annotated[shapes.Name | None, Field(description="Only of this type, such as `person`.")] = None
    q: Annotated[shapes.Text, Field(max_length=200, description="How the key begins.")] = ""
    document_id: schemas.OneDocument = None
    recording_id: schemas.OneRecording = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Cursor = None
    tenant: Tenant = None


class PassageQuery(shapes.Request):
    around: Annotated[int, Field(ge=0, le=10, description="How many neighbours on each side.")] = 2
    tenant: Tenant = None


def whose(principal: Principal, asked: str | None) -> str:
    """One tenant's, always: the index of one knows nothing of another's."""
    return tenant_of(principal, asked) or principal.tenant


def need_index() -> None:
    if not search.is_installed():
        raise Problem(
            "unavailable", 503, "this server has nothing to search with", remedy="install it: pip install 'towpath[local]'"
        )


@router.get("/search", operation_id="search_documents")
async def search_documents(principal: Reader, app: Engine, asked: Annotated[SearchQuery, Query()]) -> schemas.Results:
    """Passages of documents and recordings that answer best, by words and by meaning."""
    need_index()
    scope = Scope(asked.run, asked.type, asked.entity, asked.kind, asked.document_id, asked.recording_id)
    found = await search.find(
        app, whose(principal, asked.tenant), asked.q, filter=scope.filter(), how=asked.how, limit=asked.limit,
        after=asked.cursor,
    )  # fmt: skip
    return schemas.Results(results=[result_shape(hit) for hit in found.hits], next=found.after)


@router.get("/passages/{passage_id:path}", operation_id="get_passage", responses=responses(404))
async def get_passage(
    principal: Reader, app: Engine, passage_id: PassagePath, asked: Annotated[PassageQuery, Query()]
) -> schemas.PassageInPlace:
    """A passage with what stands before and after it."""
    tenant = whose(principal, asked.tenant)
    try:
        found = await search.passage(app, tenant, passage_id, around=asked.around)
    except search.PassageNotFound as error:
        raise not_found(str(error)) from None
    [at] = [place for place, one in enumerate(found) if one.id == passage_id]
    shaped = [passage_shape(one) for one in found]
    return schemas.PassageInPlace(passage=shaped[at], before=shaped[:at], after=shaped[at + 1 :])


@router.get("/entities", operation_id="list_entities")
async def list_entities(principal: Reader, app: Engine, asked: Annotated[EntityQuery, Query()]) -> schemas.Entities:
    """Who and what is named, those in most passages first. Types that are found wrongly too often are not among them."""
    found, after = await search.entities(
        app, whose(principal, asked.tenant), type=asked.type, begins=asked.q, limit=asked.limit, after=asked.cursor,
        of=Scope(document_id=asked.document_id, recording_id=asked.recording_id).source,
    )  # fmt: skip
    items = [
        schemas.NamedEntity(type=one.type, key=one.key, name=one.value, passages=one.passages, sources=one.sources)
        for one in found
    ]
    return schemas.Entities(items=items, types=list(search.SHOWN), next=after)

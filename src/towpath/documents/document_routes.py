"""Documents: list, look, read a page, fetch the file, read again, delete."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query, Request
from fastapi.responses import Response
from pydantic import Field

from towpath import assets
from towpath.documents import intake, removing, results, schemas, stored
from towpath.documents.access import DocumentPath, own_document
from towpath.documents.intake import Given, Owner, Wanted
from towpath.documents.names import REINGEST
from towpath.documents.shaping import document_shape, item_shape
from towpath.documents.views import item_views
from towpath.http import shapes
from towpath.http.audit import audit
from towpath.http.contents import content_response
from towpath.http.policy import Reader, Writer, tenant_of
from towpath.http.problems import not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine

router = Router(prefix="/api/documents", tags=["documents"])
_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": _BYTES, "description": "The whole file, as an attachment."},
    206: {"content": _BYTES, "description": "The part that was asked for."},
    304: {"description": "The file is the one the client has."},
}


class DocumentQuery(shapes.Request):
    tenant: Annotated[shapes.Label | None, Field(description="For admins; everybody else sees their own tenant.")] = None
    text: Annotated[
        shapes.Text | None, Field(min_length=1, max_length=200, description="A part of the title or of where it comes from.")
    ] = None
    after: Annotated[schemas.Id | None, Field(description="The `next` of the page before.")] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class ReadingQuery(shapes.Request):
    after: Annotated[schemas.Id | None, Field(description="The `next` of the page before.")] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 20


@router.get("", operation_id="list_documents")
async def list_documents(
    principal: Reader, app: Engine, asked: Annotated[DocumentQuery, Query()]
) -> shapes.Page[schemas.Document]:
    """Documents, newest first."""
    tenant = tenant_of(principal, asked.tenant)
    found = await stored.documents_page(app, tenant, before=asked.after, limit=asked.limit + 1, text=asked.text)
    return shapes.page_of(found, asked.limit, document_shape, lambda one: one.id)


@router.get("/{document_id}", operation_id="get_document", responses=responses(404))
async def get_document(principal: Reader, app: Engine, document_id: DocumentPath) -> schemas.Document:
    """One document."""
    return document_shape(await own_document(app, principal, document_id))


@router.get("/{document_id}/pages/{number}", operation_id="get_document_page", responses=responses(404))
async def get_document_page(
    principal: Reader, app: Engine, document_id: DocumentPath,
    number: Annotated[int, Path(ge=0, le=1_000_000_000, description="The page's number, as hits have it.")],
) -> schemas.DocumentPage:  # fmt: skip
    """The text of one page, slide or sheet; of what has no pages, all of it under the number 1."""
    document = await own_document(app, principal, document_id)
    pages = results.pages_from(await results.body(app, document.tenant, document.content))
    found = next((page for page in pages if page.number == number), None)
    if found is None:
        raise not_found(f"this document has no {document.unit} {number}; it has {document.pages:,}")
    return schemas.DocumentPage(
        document_id=document.id, number=number, unit=document.unit, text=found.text, pages=document.pages
    )


@router.get("/{document_id}/items", operation_id="list_document_readings", responses=responses(404))
async def list_document_readings(
    principal: Reader, app: Engine, document_id: DocumentPath, asked: Annotated[ReadingQuery, Query()]
) -> shapes.Page[schemas.DocumentItem]:
    """The items that a document was read for, in whichever run, the newest first: each step with what it took."""
    document = await own_document(app, principal, document_id)
    found = await stored.items_of_document(app, document.id, before=asked.after, limit=asked.limit + 1)
    views = await item_views(app, found[: asked.limit])
    following = views[-1].item.id if len(found) > asked.limit else None
    return shapes.Page[schemas.DocumentItem](items=[item_shape(view) for view in views], next=following)


@router.get(
    "/{document_id}/file", operation_id="get_document_file", response_class=Response, responses=_FILE | responses(404, 416)
)
async def get_document_file(principal: Reader, app: Engine, request: Request, document_id: DocumentPath) -> Response:
    """The file as it came, as an attachment. Single ranges are answered with 206."""
    document = await own_document(app, principal, document_id)
    asset = await assets.get(app, document.tenant, document.asset_id)
    return await content_response(app, asset, request.headers, download=True)


@router.post("/{document_id}/reingest", status_code=202, operation_id="reingest_document", responses=responses(404))
async def reingest_document(
    principal: Writer, app: Engine, request: Request, document_id: DocumentPath, asked: schemas.RunSettings
) -> schemas.MadeRun:
    """Reads it again where it comes from. Only what has changed is done anew."""
    document = await own_document(app, principal, document_id)
    wanted = Wanted(REINGEST, [Given(document_id=document.id)], asked.model_dump(exclude_none=True))
    whose = Owner(document.tenant, principal.account_id, principal.name)
    run_id, job_id = await intake.create(app, wanted, whose)
    audit(request, "documents.reingest", document.id, tenant=document.tenant, run=run_id)
    return schemas.MadeRun(id=run_id, job_id=job_id, status="PENDING")


@router.delete("/{document_id}", operation_id="delete_document", responses=responses(404))
async def delete_document(
    principal: Writer, app: Engine, request: Request, document_id: DocumentPath
) -> schemas.DeletedDocuments:
    """Deletes it with what is indexed of it, and its file if no other document has the same."""
    document = await own_document(app, principal, document_id)
    deleted = await removing.remove_document(app, document)
    audit(request, "documents.delete", document.id, tenant=document.tenant)
    return schemas.DeletedDocuments(deleted=deleted)

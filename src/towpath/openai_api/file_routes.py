"""/v1/files: what batches are made of, and what they came to."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from towpath import App, Transaction, assets
from towpath.assets.new_asset import describe, make_ready
from towpath.assets.streamed import drop
from towpath.http import bodies, shapes
from towpath.http.audit import audit
from towpath.http.forms import FORM, Form, receive_form
from towpath.http.policy import TokenReader, TokenWriter
from towpath.http.routing import Router
from towpath.http.senders import sender_of
from towpath.http.state import Engine
from towpath.openai_api import files
from towpath.openai_api.errors import wrong
from towpath.openai_api.files import OUTPUT, PURPOSE, PURPOSES
from towpath.openai_api.ids import file_ref
from towpath.openai_api.shapes import file_object, page_object

router = Router(prefix="/v1/files")
bodies.stream("POST", "/v1/files", FORM)
_MOST = 10_000


class FileQuery(shapes.Request):
    purpose: Annotated[str | None, Field(max_length=50)] = None
    after: Annotated[str | None, Field(max_length=200)] = None
    limit: Annotated[int, Field(ge=1, le=_MOST)] = _MOST
    order: Literal["asc", "desc"] = "desc"


@router.post("", name="openai_file.create")
async def create_file(principal: TokenWriter, app: Engine, request: Request) -> dict[str, Any]:
    sender = sender_of(principal)
    form = await receive_form(app, request, sender, kinds=None)
    try:
        purpose = _purpose_in(form)

        async def unit(tx: Transaction) -> None:
            await describe(tx, form.file.id, {PURPOSE: purpose})
            await make_ready(tx, form.file, app.settings.upload_quota_bytes)

        await app.transact(unit)
    except BaseException:
        await drop(app, form.file)
        raise
    file = await files.find(app, principal.tenant, f"file-{form.file.id.replace('-', '')}")
    audit(request, "openai_file.create", str(file.ref), bytes=file.bytes, purpose=purpose)
    return file_object(file)


def _purpose_in(form: Form) -> str:
    if unknown := sorted({*form.fields, *form.lists} - {"purpose"}):
        raise wrong(unknown[0][:100], f"Unknown parameter: {unknown[0][:100]!r}.", "unknown_parameter")
    purpose = form.fields.get("purpose")
    if purpose is None:
        raise wrong("purpose", "Missing required parameter: 'purpose'.", "missing_required_parameter")
    if purpose not in PURPOSES:
        raise wrong("purpose", f"Invalid value: {purpose[:50]!r}. Supported values are: {', '.join(PURPOSES)}.")
    return purpose


@router.get("", name="openai_file.list")
async def list_files(principal: TokenReader, app: Engine, asked: Annotated[FileQuery, Query()]) -> dict[str, Any]:
    """A position that names no file of one's own is one all the same: it tells nothing of it."""
    after = file_ref(asked.after) if asked.after is not None else None
    if asked.after is not None and after is None:
        raise wrong("after", f"'after' is the id of a file, got {asked.after[:100]!r}.")
    if asked.order == "asc":
        raise wrong("order", "Files are listed newest first here: 'order' must be 'desc'.")
    if asked.purpose is not None and asked.purpose not in (*PURPOSES, OUTPUT):
        return page_object([], has_more=False)
    limit = min(asked.limit, 1000)  # a page may be shorter than was asked for; `has_more` says so
    found = await files.page(app, principal.tenant, asked.purpose, after, limit)
    return page_object([file_object(file) for file in found[:limit]], has_more=len(found) > limit)


@router.get("/{file_id}", name="openai_file.get")
async def get_file(principal: TokenReader, app: Engine, file_id: str) -> dict[str, Any]:
    return file_object(await files.find(app, principal.tenant, file_id))


@router.get("/{file_id}/content", name="openai_file.content", response_class=StreamingResponse)
async def get_content(principal: TokenReader, app: Engine, file_id: str) -> StreamingResponse:
    file = await files.find(app, principal.tenant, file_id)
    headers = {"Content-Length": str(file.bytes), "Content-Disposition": "attachment"}
    return StreamingResponse(app.blobs.open(file.blob_key), media_type="application/octet-stream", headers=headers)


@router.delete("/{file_id}", name="openai_file.delete")
async def delete_file(principal: TokenWriter, app: Engine, request: Request, file_id: str) -> dict[str, Any]:
    """A batch that has not read it yet fails, and says why. The batch of an output keeps its results."""
    file = await files.find(app, principal.tenant, file_id)
    await _remove(app, principal.tenant, file)
    audit(request, "openai_file.delete", str(file.ref))
    return {"id": str(file.ref), "object": "file", "deleted": True}


async def _remove(app: App, tenant: str, file: files.File) -> None:
    if file.ref.kind == "input":
        await assets.delete(app, tenant, [file.ref.id])
    else:
        await app.blobs.delete(file.blob_key)

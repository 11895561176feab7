"""/v1/batches: make, look, list, stop."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request
from pydantic import Field

from towpath import App, SchemaInvalid
from towpath.batches import intake, moving, stored
from towpath.batches.access import owner_of
from towpath.batches.names import LOCAL, OPENAI_FILE
from towpath.batches.openai_lines import ENDPOINT
from towpath.batches.records import Batch
from towpath.batches.views import BatchView, views
from towpath.http import shapes
from towpath.http.audit import audit
from towpath.http.policy import TokenReader, TokenWriter
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.identity.principal import Principal
from towpath.openai_api import files
from towpath.openai_api.batch_object import ENDED, batch_object, status_of
from towpath.openai_api.errors import Refused, no_batch, no_file, wrong
from towpath.openai_api.ids import batch_ref
from towpath.openai_api.shapes import NewBatch, page_object

router = Router(prefix="/v1/batches")
PROVIDER = "towpath_provider"
"""The entry of a batch's metadata that says who runs it; without it the setting does."""


class BatchQuery(shapes.Request):
    after: Annotated[str | None, Field(max_length=200)] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20


@router.post("", name="openai_batch.create")
async def create_batch(principal: TokenWriter, app: Engine, request: Request, asked: NewBatch) -> dict[str, Any]:
    if asked.endpoint != ENDPOINT:
        raise wrong("endpoint", f"Invalid value: {asked.endpoint[:100]!r}. Supported here is {ENDPOINT!r}.")
    file = await files.find(app, principal.tenant, asked.input_file_id)
    if file.ref.kind != "input":
        raise no_file(asked.input_file_id)
    if file.purpose != "batch":
        raise wrong("input_file_id", f"The file's purpose must be 'batch', and it is {file.purpose!r}.")
    provider = await _provider(app, asked)
    told = {"input_file_id": str(file.ref), "completion_window": asked.completion_window, "metadata": asked.metadata}
    window = {} if provider == LOCAL else {"window": asked.completion_window}
    wanted = intake.Wanted(provider, title=_title(asked), settings=window | {OPENAI_FILE: told}, asset_id=file.ref.id)
    batch_id, _ = await intake.create(app, wanted, owner_of(principal))
    audit(request, "openai_batch.create", batch_id, provider=provider)
    return batch_object(await _view(app, await stored.find(app, batch_id)))


async def _provider(app: App, asked: NewBatch) -> str:
    given = (asked.metadata or {}).get(PROVIDER)
    try:
        return await intake.checked_provider(app, given or app.settings.v1_provider)
    except SchemaInvalid as error:
        raise wrong(f"metadata.{PROVIDER}" if given else "TOWPATH_V1_PROVIDER", str(error)) from None


def _title(asked: NewBatch) -> str | None:
    """What OpenAI's own pages show as a batch's name."""
    return (asked.metadata or {}).get("description")


async def _view(app: App, batch: Batch) -> BatchView:
    [view] = await views(app, [batch])
    return view


async def _own(app: App, principal: Principal, batch_id: str) -> Batch:
    """Of the token's own tenant, and made by this API."""
    ours = batch_ref(batch_id)
    try:
        found = await stored.find(app, ours or "", tenant=principal.tenant) if ours is not None else None
    except stored.BatchNotFound:
        found = None
    if found is None or OPENAI_FILE not in found.settings:
        raise no_batch(batch_id)
    return found


@router.get("", name="openai_batch.list")
async def list_batches(principal: TokenReader, app: Engine, asked: Annotated[BatchQuery, Query()]) -> dict[str, Any]:
    """A position that names no batch of one's own is one all the same: it tells nothing of it."""
    before = batch_ref(asked.after) if asked.after is not None else None
    if asked.after is not None and before is None:
        raise wrong("after", f"'after' is the id of a batch, got {asked.after[:100]!r}.")
    found = await stored.page_with_option(app, principal.tenant, OPENAI_FILE, before=before, limit=asked.limit + 1)
    shown = await views(app, found[: asked.limit])
    return page_object([batch_object(view) for view in shown], has_more=len(found) > asked.limit)


@router.get("/{batch_id}", name="openai_batch.get")
async def get_batch(principal: TokenReader, app: Engine, batch_id: str) -> dict[str, Any]:
    return batch_object(await _view(app, await _own(app, principal, batch_id)))


@router.post("/{batch_id}/cancel", name="openai_batch.cancel")
async def cancel_batch(principal: TokenWriter, app: Engine, request: Request, batch_id: str) -> dict[str, Any]:
    batch = await _own(app, principal, batch_id)
    word = status_of(await _view(app, batch))
    stopped = [] if word in ENDED else await moving.cancel(app, batch, principal.name)
    if not stopped:
        raise Refused(409, f"Cannot cancel a batch with status '{word}'.")
    audit(request, "openai_batch.cancel", batch.id, jobs=len(stopped))
    return batch_object(await _view(app, await stored.find(app, batch.id)))

"""Datasets: lists of inputs that many batches may name."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request
from pydantic import Field

from towpath import App
from towpath.batches import datasets, records, schemas
from towpath.batches.datasets import Given
from towpath.batches.intake import as_inputs, as_lines
from towpath.http import bodies, shapes
from towpath.http.audit import audit
from towpath.http.policy import Reader, Writer, tenant_of
from towpath.http.problems import conflict, invalid, not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.identity.principal import Principal
from towpath.outbound.sources import is_address

router = Router(prefix="/api/datasets", tags=["batches"])
bodies.large("POST", r"/api/datasets")
DatasetPath = Annotated[str, Path(description="The dataset's id.")]


class DatasetQuery(shapes.Request):
    tenant: Annotated[shapes.Label | None, Field(description="For admins; everybody else sees their own tenant.")] = None
    after: Annotated[schemas.Id | None, Field(description="The `next` of the page before.")] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


@router.get("", operation_id="list_datasets")
async def list_datasets(
    principal: Reader, app: Engine, asked: Annotated[DatasetQuery, Query()]
) -> shapes.Page[schemas.Dataset]:
    """Lists of requests and inputs, newest first: those that were made by themselves, and those that came with a batch."""
    found = await datasets.page(app, tenant_of(principal, asked.tenant), before=asked.after, limit=asked.limit + 1)
    return shapes.page_of(found, asked.limit, _shape, lambda one: one.id)


@router.post("", status_code=201, operation_id="create_dataset", responses=responses(404))
async def create_dataset(principal: Writer, app: Engine, request: Request, asked: schemas.NewDataset) -> schemas.Dataset:
    """Stores a list of requests or inputs under an id, which as many batches may name as want to."""
    if sum(one is not None for one in (asked.requests, asked.inputs, asked.input)) != 1:
        raise invalid("requests", "give one of requests, inputs and input")
    made = await datasets.create(app, principal.tenant, _given(asked), asked.name)
    audit(request, "dataset.create", made.id)
    return _shape(made)


def _given(asked: schemas.NewDataset) -> Given:
    if asked.input is not None:
        return Given(uri=asked.input) if is_address(asked.input) else Given(asset_id=asked.input)
    return Given(lines=as_inputs(asked.inputs) if asked.inputs is not None else as_lines(asked.requests or []))


@router.get("/{dataset_id}", operation_id="get_dataset", responses=responses(404))
async def get_dataset(principal: Reader, app: Engine, dataset_id: DatasetPath) -> schemas.Dataset:
    return _shape(await _own(principal, app, dataset_id))


@router.delete("/{dataset_id}", operation_id="delete_dataset", responses=responses(404, 409))
async def delete_dataset(
    principal: Writer, app: Engine, request: Request, dataset_id: DatasetPath
) -> schemas.DeletedDataset:
    """Refused while a batch names it. An uploaded file that its lines are in stays."""
    found = await _own(principal, app, dataset_id)
    try:
        await datasets.remove(app, found)
    except datasets.DatasetInUse as error:
        raise conflict(str(error)) from None
    audit(request, "dataset.delete", found.id, tenant=found.tenant)
    return schemas.DeletedDataset(deleted=1)


async def _own(principal: Principal, app: App, dataset_id: str) -> records.Dataset:
    """Somebody else's answers like one that does not exist."""
    try:
        return await datasets.find(app, dataset_id.lower(), tenant=None if principal.admin else principal.tenant)
    except datasets.DatasetNotFound as error:
        raise not_found(str(error)) from None


def _shape(one: records.Dataset) -> schemas.Dataset:
    return schemas.Dataset(**{name: getattr(one, name) for name in schemas.Dataset.model_fields})

"""Batches: make, estimate, list, look, fetch results, stop, ask again, delete; and orders that are in doubt."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from towpath import App, assets
from towpath.batches import estimating, intake, moving, previewing, removing, schemas, stored
from towpath.batches.access import BatchPath, OrderPath, own_batch, owner_of
from towpath.batches.intake import Owner, Wanted, as_inputs, as_lines
from towpath.batches.lines import lines_of, split
from towpath.batches.names import TRANSCRIPTION, dataset_key, download_key
from towpath.batches.records import Batch
from towpath.batches.shaping import batch_shape, detail_shape, order_shape
from towpath.batches.views import BatchView, views
from towpath.http import bodies, shapes
from towpath.http.audit import audit
from towpath.http.policy import Reader, Writer, tenant_of
from towpath.http.problems import conflict, invalid, not_found, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.identity.principal import Principal
from towpath.outbound.sources import is_address, open_source

router = Router(prefix="/api/batches", tags=["batches"])
bodies.large("POST", r"/api/batches/(completion|transcription|estimate)")

_NO_RESULTS = "this batch has no results yet; GET /api/batches/{id} tells how far it is"
_RESULTS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"application/jsonl": {}, "application/json": {"schema": {"type": "object"}}},
        "description": "A line for each request and model, or the transcriptions as one document; as an attachment.",
    }
}


class BatchQuery(shapes.Request):
    status: Annotated[list[schemas.AskedStatus], Field(default_factory=list, max_length=6)]
    tenant: Annotated[shapes.Label | None, Field(description="For admins; everybody else sees their own tenant.")] = None
    after: Annotated[schemas.Id | None, Field(description="The `next` of the page before.")] = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


@router.get("", operation_id="list_batches")
async def list_batches(principal: Reader, app: Engine, asked: Annotated[BatchQuery, Query()]) -> shapes.Page[schemas.Batch]:
    """Batches, newest first. With a filter a page may be short, even empty, and still have a `next`."""
    tenant = tenant_of(principal, asked.tenant)

    async def look(before: str | None, count: int) -> list[BatchView]:
        return await views(app, await stored.page(app, tenant, before=before, limit=count))

    return await shapes.page_of_fitting(
        look, lambda view: not asked.status or view.status in asked.status, batch_shape, lambda view: view.batch.id,
        after=asked.after, limit=asked.limit,
    )  # fmt: skip


@router.post("/completion", status_code=202, operation_id="create_completion_batch", responses=responses(404))
async def create_completion_batch(
    principal: Writer, app: Engine, request: Request, asked: schemas.NewCompletion
) -> schemas.Made:
    """Asks models many things at once, at a batch provider or, as LOCAL, on this installation's own workers."""
    _one_of(asked)
    settings = {"window": asked.window, "strict_inputs": asked.strict_inputs}
    wanted = Wanted(
        asked.provider, asked.models, asked.title, {name: value for name, value in settings.items() if value},
        lines=as_lines(asked.requests) if asked.requests is not None else None, dataset_ids=asked.dataset_ids,
        asset_id=asked.input if not _by_address(asked) else None, uri=asked.input if _by_address(asked) else None,
    )  # fmt: skip
    batch_id, job_id = await intake.create(app, wanted, owner_of(principal))
    audit(request, "batch.create", batch_id, provider=asked.provider)
    return schemas.Made(id=batch_id, job_id=job_id, status="PENDING")


@router.post("/transcription", status_code=202, operation_id="create_transcription_batch", responses=responses(404))
async def create_transcription_batch(
    principal: Writer, app: Engine, request: Request, asked: schemas.NewTranscription
) -> schemas.Made:
    """Has many files transcribed at once, by a batch provider or, as LOCAL, on this installation's own workers."""
    if (asked.inputs is not None) == bool(asked.dataset_ids):
        raise invalid("inputs", "give one of inputs and dataset_ids")
    options = asked.model_dump(include={"locale", "diarization", "word_timestamps", "strict_inputs"})
    wanted = Wanted(
        asked.provider, asked.models, asked.title, {name: value for name, value in options.items() if value},
        lines=as_inputs(asked.inputs) if asked.inputs is not None else None, dataset_ids=asked.dataset_ids,
        task_type=TRANSCRIPTION,
    )  # fmt: skip
    batch_id, job_id = await intake.create(app, wanted, owner_of(principal))
    audit(request, "batch.create", batch_id, provider=asked.provider, task_type=TRANSCRIPTION)
    return schemas.Made(id=batch_id, job_id=job_id, status="PENDING")


def _by_address(asked: schemas.Inputs) -> bool:
    return asked.input is not None and is_address(asked.input)


def _one_of(asked: schemas.Inputs) -> None:
    given = [asked.requests is not None, asked.input is not None, bool(asked.dataset_ids)]
    if sum(given) != 1:
        raise invalid("requests", "give one of requests, input and dataset_ids")


@router.post("/estimate", operation_id="estimate_batch", responses=responses(404, 409))
async def estimate_batch(principal: Reader, app: Engine, asked: schemas.EstimateRequest) -> schemas.Estimate:
    """What a completion may cost, by the price list. Nothing is stored."""
    _one_of(asked)
    models, prices = list(dict.fromkeys(asked.models)), await app.prices.get()
    if asked.input is not None and _by_address(asked):
        async with open_source(app.settings, asked.input, tenant=principal.tenant) as source:
            told = await estimating.estimate(split(aiter(source), estimating.MOST_READ), source.size, models, prices)
    else:
        async with aclosing(_lines(app, principal, asked)) as lines:
            told = await estimating.estimate(lines, await _size(app, principal, asked), models, prices)
    return schemas.Estimate(**{name: getattr(told, name) for name in schemas.Estimate.model_fields})


async def _keys(app: App, principal: Principal, asked: schemas.Inputs) -> list[str]:
    if asked.input is not None:
        return [(await assets.get(app, principal.tenant, asked.input)).blob_key]
    ids = [one.lower() for one in asked.dataset_ids]
    found = await stored.datasets(app, principal.tenant, ids)
    if len(found) < len(ids):
        raise not_found("one of these datasets is not there")
    keys = [
        (await assets.get(app, principal.tenant, one.asset_id)).blob_key if one.asset_id else dataset_key(one.id)
        for one in found
    ]
    if any([await app.blobs.head(key) is None for key in keys]):
        raise conflict("one of these datasets has not been read from its address yet; ask again in a while")
    return keys


async def _lines(app: App, principal: Principal, asked: schemas.Inputs) -> AsyncGenerator[bytes, None]:
    if asked.requests is not None:
        async for line in as_lines(asked.requests):
            yield line
        return
    for key in await _keys(app, principal, asked):
        async with aclosing(lines_of(app.blobs, key, estimating.MOST_READ)) as lines:
            async for line in lines:
                yield line


async def _size(app: App, principal: Principal, asked: schemas.Inputs) -> int | None:
    if asked.requests is not None:
        return None
    heads = [await app.blobs.head(key) for key in await _keys(app, principal, asked)]
    return sum(head.size for head in heads if head is not None)


@router.get("/{batch_id}", operation_id="get_batch", responses=responses(404))
async def get_batch(principal: Reader, app: Engine, batch_id: BatchPath) -> schemas.BatchDetail:
    """One batch with its provider jobs, and the requests that cannot be asked."""
    return await _detail(app, await own_batch(app, principal, batch_id))


async def _detail(app: App, batch: Batch) -> schemas.BatchDetail:
    [view] = await views(app, [batch])
    return detail_shape(view)


@router.get(
    "/{batch_id}/results",
    operation_id="get_batch_results",
    response_class=StreamingResponse,
    responses=_RESULTS | responses(404),
)
async def get_batch_results(principal: Reader, app: Engine, batch_id: BatchPath) -> StreamingResponse:
    """`{"custom_id", "model", "text", "response", "error"}` in the order of the requests, for each in that of the models;
    `text` is what was said, `response` the provider's own answer. Of a transcription `{"transcriptions": […]}` in the order
    of the inputs, of GOOGLE `{model: {"transcriptions": […]}}`."""
    batch = await own_batch(app, principal, batch_id)
    key, kind = download_key(batch.id, batch.task_type), "json" if batch.task_type == TRANSCRIPTION else "jsonl"
    if batch.result_bytes is None or await app.blobs.head(key) is None:
        raise not_found(_NO_RESULTS)
    headers = {
        "Content-Disposition": f'attachment; filename="batch-{batch.id}.{kind}"',
        "Content-Length": str(batch.result_bytes),
    }
    return StreamingResponse(app.blobs.open(key), media_type=f"application/{kind}", headers=headers)


class PreviewQuery(shapes.Request):
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    failed: Annotated[bool, Field(description="Only what has an error.")] = False


@router.get("/{batch_id}/preview", operation_id="preview_batch_results", responses=responses(404))
async def preview_batch_results(
    principal: Reader, app: Engine, batch_id: BatchPath, asked: Annotated[PreviewQuery, Query()]
) -> schemas.Preview:
    """The first lines of the results as people read them: what was said, or what went wrong. 8 MiB are looked at."""
    batch = await own_batch(app, principal, batch_id)
    if batch.result_bytes is None:
        raise not_found(_NO_RESULTS)
    found = await previewing.preview(app.blobs, batch.id, asked.limit, failed=asked.failed)
    return schemas.Preview.model_validate({"lines": found.lines, "more": found.more})


@router.post("/{batch_id}/cancel", operation_id="cancel_batch", responses=responses(404))
async def cancel_batch(principal: Writer, app: Engine, request: Request, batch_id: BatchPath) -> schemas.CancelledJobs:
    """Stops it, also at the provider; the list is empty if nothing is being done with it."""
    batch = await own_batch(app, principal, batch_id)
    stopped = await moving.cancel(app, batch, principal.name)
    if stopped:
        audit(request, "batch.cancel", batch.id, tenant=batch.tenant, jobs=len(stopped))
    return schemas.CancelledJobs(cancelled=stopped)


@router.post("/{batch_id}/retry", status_code=202, operation_id="retry_batch", responses=responses(404, 409))
async def retry_batch(principal: Writer, app: Engine, request: Request, batch_id: BatchPath) -> schemas.Made:
    """Makes a new batch of the requests that were not answered; without any results, of all of them."""
    batch = await own_batch(app, principal, batch_id)
    whose = Owner(batch.tenant, principal.account_id, principal.name)
    try:
        made, job_id = await moving.retry(app, batch, whose)
    except moving.NotNow as error:
        raise conflict(str(error)) from None
    audit(request, "batch.retry", batch.id, tenant=batch.tenant, made=made)
    return schemas.Made(id=made, job_id=job_id, status="PENDING")


@router.delete("/{batch_id}", operation_id="delete_batch", responses=responses(404))
async def delete_batch(principal: Writer, app: Engine, request: Request, batch_id: BatchPath) -> schemas.DeletedBatch:
    """Stops it if need be, and deletes its jobs, its results and the dataset that came with it."""
    batch = await own_batch(app, principal, batch_id)
    deleted = await removing.remove(app, batch)
    audit(request, "batch.delete", batch.id, tenant=batch.tenant)
    return schemas.DeletedBatch(deleted=deleted)


@router.post(
    "/{batch_id}/provider-jobs/{provider_job_id}/adopt", operation_id="adopt_provider_job", responses=responses(404, 409)
)
async def adopt_provider_job(
    principal: Writer, app: Engine, request: Request, batch_id: BatchPath, provider_job_id: OrderPath,
    asked: schemas.Adoption,
) -> schemas.ProviderJob:  # fmt: skip
    """An order whose answer was lost is this job at the provider: from here on it is polled like any other."""
    batch = await _with_order(app, principal, batch_id, provider_job_id)
    row = await app.provider_jobs.adopt(provider_job_id.lower(), asked.external_id)
    audit(request, "batch.adopt", batch.id, tenant=batch.tenant, order=row.id, external_id=asked.external_id)
    return order_shape(row)


@router.post(
    "/{batch_id}/provider-jobs/{provider_job_id}/resubmit",
    operation_id="resubmit_provider_job",
    responses=responses(404, 409),
)
async def resubmit_provider_job(
    principal: Writer, app: Engine, request: Request, batch_id: BatchPath, provider_job_id: OrderPath
) -> schemas.ProviderJob:
    """An order whose answer was lost is not at the provider: it is sent again, and paid twice if it is there after all."""
    batch = await _with_order(app, principal, batch_id, provider_job_id)
    row = await app.provider_jobs.resubmit(provider_job_id.lower())
    audit(request, "batch.resubmit", batch.id, tenant=batch.tenant, order=row.id)
    return order_shape(row)


async def _with_order(app: App, principal: Principal, batch_id: str, provider_job_id: str) -> Batch:
    batch = await own_batch(app, principal, batch_id)
    [view] = await views(app, [batch])
    if provider_job_id.lower() not in {row.id for row in view.ordered}:
        raise not_found(f"this batch has no provider job {provider_job_id[:100]!r}")
    return batch

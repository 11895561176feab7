"""One request as a job of its own, which goes to the provider in a batch with others."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Request, Response
from pydantic import Field

from towpath.batches import intake, schemas
from towpath.batches.access import owner_of
from towpath.batches.asking import Request as Payload
from towpath.batches.names import ASK
from towpath.http import bodies, shapes
from towpath.http.audit import audit
from towpath.http.once import Key, enqueue_once
from towpath.http.policy import Writer
from towpath.http.problems import responses
from towpath.http.routing import Router
from towpath.http.state import Engine

router = Router(prefix="/api/batches/requests", tags=["batches"])
bodies.large("POST", "/api/batches/requests")


class NewRequest(shapes.Request):
    provider: Annotated[shapes.Text, Field(min_length=1, max_length=100, description="See `GET /api/providers`.")] = "LOCAL"
    model: Annotated[
        schemas.ModelName | None, Field(description="LOCAL may go without: then it is the one of the settings.")
    ] = None
    body: Annotated[dict[str, Any], Field(min_length=1, description="What the chat API takes, without a model.")]
    window: Annotated[
        str | None, Field(pattern=r"^[1-9][0-9]{0,3}[hd]$", description="How long the provider may take, such as 24h.")
    ] = None


class Asked(shapes.Answer):
    job_id: Annotated[str, Field(description="The job whose result is `{text, response, cost_cents, batch_id}`.")]


_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"model": Asked, "description": "The job that an earlier request of this Idempotency-Key made"},
    **responses(409),
}


@router.post("", status_code=202, operation_id="ask_in_a_batch", responses=_ANSWERS)
async def ask_in_a_batch(
    principal: Writer, app: Engine, request: Request, response: Response, asked: NewRequest, idempotency_key: Key = None
) -> Asked:
    """Asks a model one thing. The request waits for others of the same tenant, provider, model and window, and goes out with
    them as one batch; its job ends with its own answer, or its own error."""
    provider = await intake.checked_provider(app, asked.provider)
    [model] = await intake.checked_models(app, provider, [asked.model] if asked.model else [])
    whose = owner_of(principal)
    payload = Payload(asked.body, model, provider, asked.window)
    job, created = await enqueue_once(
        app, idempotency_key, asked, ASK, payload, tenant=whose.tenant, lane=whose.lane
    )  # fmt: skip
    response.status_code = 202 if created else 200
    if created:
        audit(request, "batch.ask", job.id, tenant=job.tenant, provider=provider)
    return Asked(job_id=job.id)

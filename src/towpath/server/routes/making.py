"""Making jobs over HTTP: only public operations, checked payloads, and at most once for an Idempotency-Key."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

from fastapi import Header, Request, Response

from towpath.core.encoding import encode
from towpath.core.errors import JobNotFound
from towpath.core.records import Job as JobRow
from towpath.engine.app import App
from towpath.engine.changing import idempotency
from towpath.engine.changing.idempotency import Made, Once
from towpath.engine.tracing import current_trace, enqueueing
from towpath.http import bodies
from towpath.http.audit import audit
from towpath.http.policy import Writer, tenant_of
from towpath.http.problems import Problem, conflict, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.identity.principal import WITHOUT_STANDING, Principal, no_standing
from towpath.server.payloads import check_payload, public_operation
from towpath.server.schemas.base import Label
from towpath.server.schemas.jobs import Job, NewJob, job_of

router = Router(prefix="/api/jobs", tags=["jobs"])
bodies.large("POST", "/api/jobs")

_Key = Annotated[
    Label | None,
    Header(description="Makes a repeated request harmless: within 24 hours it answers the job that the first one made."),
]
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"model": Job, "description": "The job that an earlier request of this Idempotency-Key made"},
    **responses(404, 409),
}  # fmt: skip


@router.post("", operation_id="create_job", status_code=201, responses=_ANSWERS)
async def create_job(
    principal: Writer,
    app: Engine,
    request: Request,
    response: Response,
    asked: NewJob,
    idempotency_key: _Key = None,
) -> Job:
    """Adds a job of a public operation. Repeated with the same Idempotency-Key it answers the same job.

    A W3C `traceparent` header goes on in the job.
    """
    tenant = tenant_of(principal, asked.tenant) or principal.tenant
    operation = public_operation(app, asked.operation)
    check_standing(principal, asked.priority, asked.cost)
    await check_payload(app, operation, asked.payload, tenant)
    once = None if idempotency_key is None else Once(idempotency_key, _hash(asked))
    with enqueueing([operation.name]):
        new = app.services.new_job(
            operation.name, asked.payload, tenant=tenant, priority=asked.priority, cost=asked.cost, run_at=asked.run_at,
            delay=asked.delay, key=asked.key, trace=current_trace(),
        )  # fmt: skip
        made = await idempotency.enqueue(app.services, new, once)
    row = await _row(app, made)
    response.status_code = 201 if made.created else 200
    response.headers["Location"] = request.url_for("get_job", id=row.id).path
    if made.created:
        audit(request, "job.create", row.id, tenant=tenant, operation=operation.name)
    return job_of(row)


def check_standing(principal: Principal, priority: int, cost: float = 1.0) -> None:
    if why := no_standing(principal.scopes, priority, cost):
        raise Problem("forbidden", 403, why, remedy=WITHOUT_STANDING)


async def _row(app: App, made: Made) -> JobRow:
    if made.conflict:
        raise conflict(
            "this Idempotency-Key was used within the last 24 hours for a different request",
            remedy="repeat exactly the same request, or use a new key",
        )
    try:
        return await app.get(made.job_id)
    except JobNotFound:
        raise conflict(
            f"the job {made.job_id} that this Idempotency-Key made was deleted meanwhile", remedy="use a new key"
        ) from None


def _hash(asked: NewJob) -> str:
    """Of what was asked for, not of its bytes: the order of fields and white space do not matter."""
    body = asked.model_dump(mode="json", exclude_unset=True)
    return hashlib.sha256(encode(_sorted(body), what="the request").encode()).hexdigest()


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value

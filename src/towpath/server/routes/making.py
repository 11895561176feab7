"""Making jobs over HTTP: only public operations, checked payloads, and at most once for an Idempotency-Key."""

from __future__ import annotations

from typing import Any

from fastapi import Request, Response

from towpath.http import bodies
from towpath.http.audit import audit
from towpath.http.once import Key, enqueue_once
from towpath.http.policy import Writer, tenant_of
from towpath.http.problems import Problem, responses
from towpath.http.routing import Router
from towpath.http.state import Engine
from towpath.identity.principal import WITHOUT_STANDING, Principal, no_standing
from towpath.server.payloads import check_payload, public_operation
from towpath.server.schemas.jobs import Job, NewJob, job_of

router = Router(prefix="/api/jobs", tags=["jobs"])
bodies.large("POST", "/api/jobs")

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
    idempotency_key: Key = None,
) -> Job:
    """Adds a job of a public operation. Repeated with the same Idempotency-Key it answers the same job.

    A W3C `traceparent` header goes on in the job.
    """
    tenant = tenant_of(principal, asked.tenant) or principal.tenant
    operation = public_operation(app, asked.operation)
    check_standing(principal, asked.priority, asked.cost)
    await check_payload(app, operation, asked.payload, tenant)
    row, created = await enqueue_once(
        app, idempotency_key, asked, operation.name, asked.payload, tenant=tenant, priority=asked.priority, cost=asked.cost,
        run_at=asked.run_at, delay=asked.delay, key=asked.key,
    )  # fmt: skip
    response.status_code = 201 if created else 200
    response.headers["Location"] = request.url_for("get_job", id=row.id).path
    if created:
        audit(request, "job.create", row.id, tenant=tenant, operation=operation.name)
    return job_of(row)


def check_standing(principal: Principal, priority: int, cost: float = 1.0) -> None:
    if why := no_standing(principal.scopes, priority, cost):
        raise Problem("forbidden", 403, why, remedy=WITHOUT_STANDING)

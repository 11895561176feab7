"""Payloads that come in over HTTP: every field that does not fit is told with its path, and ids must be the tenant's own."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from towpath.core.records import Job
from towpath.engine.app import App
from towpath.engine.asking.references import dangling
from towpath.engine.registry import Operation
from towpath.http.problems import Problem
from towpath.identity.principal import Principal

_MOST_TOLD = 50


def public_operation(app: App, name: str) -> Operation:
    operation = app.registry.get(name)
    if operation is not None and operation.public:
        return operation
    known = [one for one in app.registry.names() if (found := app.registry.get(one)) is not None and found.public]
    if operation is None:
        detail = f"no operation is named {name!r}"
    else:
        detail = f"the operation {name!r} is not public: jobs of it are made by the app itself, not over HTTP"
    public = f"public operations are: {', '.join(known)}" if known else "no operation here is public"
    raise Problem("not_found", 404, detail, remedy=f"{public}; mark one with @app.operation(…, public=True)")


async def check_edit(app: App, principal: Principal, job: Job, payload: Any) -> None:
    """A new payload for a job that there is. What the app itself makes is not everybody's to change: its operations trust
    the ids and addresses in it."""
    operation = app.registry.get(job.operation)
    if not principal.admin and (operation is None or not operation.public):
        raise Problem(
            "forbidden", 403, f"the operation {job.operation!r} is not public: only administrators may change its payloads",
            remedy="retry it with the payload it has",
        )  # fmt: skip
    await check_payload(app, operation, payload, job.tenant)


async def check_payload(app: App, operation: Operation | None, payload: Any, tenant: str) -> None:
    """Refuses with all that does not fit at once; ids of jobs that are not this tenant's do not exist for it."""
    if operation is None or operation.adapter is None:
        return
    try:
        operation.adapter.validate_python(payload)
    except ValidationError as error:
        raise _unfit(operation, error) from None
    missing = await dangling(app.services.store, operation, payload, tenant)
    if missing:
        path, message = missing[0]
        raise Problem("not_found", 404, f"{path}: {message}", errors=missing[:_MOST_TOLD])


def _unfit(operation: Operation, error: ValidationError) -> Problem:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    told = [(".".join(["payload", *map(str, item["loc"])]), str(item["msg"])) for item in found]
    path, message = told[0]
    remedy = f"GET /api/operations shows the schema of {operation.name}"
    return Problem("invalid", 422, f"{path}: {message}", remedy=remedy, errors=told[:_MOST_TOLD])

"""`Idempotency-Key`: a request that is repeated within a day answers the job that the first one made."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

from fastapi import Header
from pydantic import BaseModel

from towpath.core.encoding import encode
from towpath.core.errors import JobNotFound
from towpath.core.records import Job
from towpath.engine.app import App
from towpath.engine.changing import idempotency
from towpath.engine.changing.idempotency import Once
from towpath.engine.tracing import current_trace, enqueueing
from towpath.http.problems import conflict
from towpath.http.shapes import Label

Key = Annotated[
    Label | None,
    Header(description="Makes a repeated request harmless: within 24 hours it answers the job that the first one made."),
]


async def enqueue_once(
    app: App, once_key: str | None, asked: BaseModel, operation: str, payload: Any, **options: Any
) -> tuple[Job, bool]:
    """The job, and whether it is new. 409 if the key stands for another request, or for a job that is gone."""
    once = None if once_key is None else Once(once_key, _hash(asked))
    with enqueueing([operation]):
        new = app.services.new_job(operation, payload, trace=current_trace(), **options)
        made = await idempotency.enqueue(app.services, new, once)
    if made.conflict:
        raise conflict(
            "this Idempotency-Key was used within the last 24 hours for a different request",
            remedy="repeat exactly the same request, or use a new key",
        )
    try:
        return await app.get(made.job_id), made.created
    except JobNotFound:
        raise conflict(
            f"the job {made.job_id} that this Idempotency-Key made was deleted meanwhile", remedy="use a new key"
        ) from None


def _hash(asked: BaseModel) -> str:
    """Of what was asked for, not of its bytes: the order of fields and white space do not matter."""
    body = asked.model_dump(mode="json", exclude_unset=True)
    return hashlib.sha256(encode(_sorted(body), what="the request").encode()).hexdigest()


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value

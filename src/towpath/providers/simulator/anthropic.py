"""Anthropic's Message Batches API, as `anthropic.types.messages` describes it."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from anthropic.types.messages import DeletedMessageBatch, MessageBatch, MessageBatchRequestCounts
from anthropic.types.messages.batch_create_params import BatchCreateParams
from anthropic.types.shared import (
    APIErrorObject,
    AuthenticationError,
    ErrorResponse,
    InvalidRequestError,
    NotFoundError,
    OverloadedError,
    RateLimitError,
)
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from towpath.providers.simulator.anthropic_results import results_of
from towpath.providers.simulator.faults import Fault
from towpath.providers.simulator.gate import Refusal, gated
from towpath.providers.simulator.jobs import SimulatedJob
from towpath.providers.simulator.simulator import Simulator

if TYPE_CHECKING:
    from starlette.requests import Request

KEY = "sk-ant-secret-of-the-simulator"
_PATH = "/v1/messages/batches"
_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MOST = 100_000
_FIELDS = BatchCreateParams.__required_keys__ | BatchCreateParams.__optional_keys__
_ERRORS: dict[str, Any] = {
    "denied": lambda message: AuthenticationError(message=message, type="authentication_error"),
    "rate_limited": lambda message: RateLimitError(message=message, type="rate_limit_error"),
    "unknown": lambda message: NotFoundError(message=message, type="not_found_error"),
    "broken": lambda message: APIErrorObject(message=message, type="api_error"),
    "unavailable": lambda message: OverloadedError(message=message, type="overloaded_error"),
}


class AnthropicSimulator(Simulator):
    name = "ANTHROPIC"

    @cached_property
    def app(self) -> Starlette:
        routes = [
            (_PATH, self._create, "POST"),
            (_PATH, self._list, "GET"),
            (f"{_PATH}/{{id}}", self._retrieve, "GET"),
            (f"{_PATH}/{{id}}", self._delete, "DELETE"),
            (f"{_PATH}/{{id}}/cancel", self._cancel, "POST"),
            (f"{_PATH}/{{id}}/results", self._results, "GET"),
        ]
        return Starlette(
            routes=[Route(path, gated(self, does, _sent, KEY, _refused), methods=[method]) for path, does, method in routes]
        )

    async def _create(self, request: Request) -> Response:
        asked = _batch_of(await request.body())
        custom_ids = " ".join(sorted(one["custom_id"] for one in asked))
        # A batch bears no name. What it would be recognised by is all it consists of.
        key = hashlib.sha256(custom_ids.encode() + json.dumps(asked, sort_keys=True).encode()).hexdigest()
        job = self.accept(self.new_id("msgbatch_"), key, {"requests": asked, "made_at": datetime.now(UTC)}, units=len(asked))
        if self.faults.strikes(Fault.LOST_ANSWER):
            raise Refusal("broken", "Internal server error")
        return _model(self._batch(job, job.state))

    async def _list(self, request: Request) -> Response:
        limit = int(request.query_params.get("limit", 20))
        if not 1 <= limit <= 1000:
            raise Refusal("invalid", "limit: Input should be between 1 and 1000")
        ids = [job_id for job_id in reversed(self.jobs) if self.found(job_id)]
        after = request.query_params.get("after_id")
        ids = ids[ids.index(after) + 1 :] if after in ids else ids
        page = [self._batch(self.jobs[job_id], self.jobs[job_id].state) for job_id in ids[:limit]]
        ends = {"first_id": page[0].id, "last_id": page[-1].id} if page else {"first_id": None, "last_id": None}
        return JSONResponse({"data": [batch.to_dict(mode="json") for batch in page], "has_more": len(ids) > limit, **ends})

    async def _retrieve(self, request: Request) -> Response:
        job = self._job(request)
        if (state := job.look()) == "gone":
            raise Refusal("unknown", f"Message Batch {job.id} not found.")
        return _model(self._batch(job, state))

    async def _delete(self, request: Request) -> Response:
        job = self._job(request)
        if not _ended(job.state):
            raise Refusal("invalid", "Message Batch cannot be deleted while it is processing.")
        del self.jobs[job.id]
        return _model(DeletedMessageBatch(id=job.id, type="message_batch_deleted"))

    async def _cancel(self, request: Request) -> Response:
        job = self._job(request)
        if _ended(job.state):
            raise Refusal("invalid", "Message Batch has already ended.")
        batch = self._batch(job, job.state)
        job.cancelled = True
        return _model(batch.model_copy(update={"processing_status": "canceling", "cancel_initiated_at": batch.created_at}))

    async def _results(self, request: Request) -> Response:
        job = self._job(request)
        if not _ended(job.state) or self.faults.strikes(Fault.EXPIRED_URL):
            raise Refusal("unknown", "There are no results here.")
        lines = [line for _, line in results_of(job)]
        self.random.shuffle(lines)  # they come in any order
        data = "".join(lines).encode()
        if self.faults.strikes(Fault.TRUNCATED):
            data = data[: len(data) // 2]
        return Response(data, media_type="application/x-jsonl")

    def _job(self, request: Request) -> SimulatedJob:
        job = self.found(request.path_params["id"])
        if job is None:
            raise Refusal("unknown", f"Message Batch {request.path_params['id']} not found.")
        return job

    def _batch(self, job: SimulatedJob, state: str) -> MessageBatch:
        made_at, over = job.request["made_at"], _ended(state)
        counted: dict[str, Any] = dict.fromkeys(("canceled", "errored", "expired", "processing", "succeeded"), 0)
        for kind, _ in results_of(job) if over else ():
            counted[kind] += 1
        if not over:
            counted["processing"] = len(job.request["requests"])
        batch = MessageBatch(
            id=job.id,
            type="message_batch",
            created_at=made_at,
            expires_at=made_at + timedelta(hours=24),
            ended_at=made_at if over else None,
            cancel_initiated_at=made_at if state == "cancelled" else None,
            processing_status="ended" if over else "in_progress",
            request_counts=MessageBatchRequestCounts(**counted),
            results_url=f"{self.url}{_PATH}/{job.id}/results" if over else None,
        )
        return batch.model_copy(update={"processing_status": "musing"}) if state == "odd" else batch


def _ended(state: str) -> bool:
    return state in ("done", "partial", "failed", "cancelled")


def _batch_of(body: bytes) -> list[dict[str, Any]]:
    """The requests of a batch. What each of them asks is only looked at when its turn comes."""
    try:
        asked = json.loads(body)
        requests, odd = asked["requests"], set(asked) - _FIELDS
        ids = [one["custom_id"] for one in requests if set(one) == {"custom_id", "params"}]
    except (ValueError, KeyError, TypeError):
        raise Refusal("invalid", "requests: Field required") from None
    if odd or len(ids) != len(requests) or not 1 <= len(requests) <= _MOST:
        raise Refusal("invalid", f"requests: {len(requests)} of them, or fields that are not permitted: {odd}")
    for number, custom_id in enumerate(ids):
        if not _CUSTOM_ID.fullmatch(custom_id):
            raise Refusal("invalid", f"requests.{number}.custom_id: String should match pattern '^{_CUSTOM_ID.pattern}$'")
    if len(set(ids)) != len(ids):
        raise Refusal("invalid", "requests: custom_ids must be unique")
    found: list[dict[str, Any]] = requests
    return found


def _model(model: Any) -> Response:
    return JSONResponse(model.to_dict(mode="json"))


def _sent(request: Request) -> str:
    """Libraries before 2.0 sent it in a header of its own."""
    if "anthropic-version" not in request.headers:
        raise Refusal("invalid", "anthropic-version: header is required")
    return request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")


def _refused(refusal: Refusal) -> Response:
    made = _ERRORS.get(refusal.kind, lambda message: InvalidRequestError(message=message, type="invalid_request_error"))
    error = ErrorResponse(type="error", error=made(refusal.message), request_id="req_simulated")
    status = 529 if refusal.kind == "unavailable" else refusal.status
    return JSONResponse(error.to_dict(mode="json"), status, headers=refusal.headers)

"""OpenAI's Files and Batch APIs, as `openai.types` describes them.

The lines of a batch's files are not in the library; they are as in OpenAI's guide to batches.
"""

from __future__ import annotations

import json
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from openai.types import Batch, BatchError, BatchRequestCounts, FileDeleted, FileObject, FilePurpose
from openai.types.batch import Errors
from openai.types.batch_create_params import BatchCreateParams
from openai.types.file_create_params import FileCreateParams
from openai.types.shared import ErrorObject
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from towpath.providers.simulator.faults import Fault
from towpath.providers.simulator.gate import Refusal, gated
from towpath.providers.simulator.jobs import SimulatedJob
from towpath.providers.simulator.openai_lines import Request as BatchLine
from towpath.providers.simulator.openai_lines import misshapen, outcome, parsed
from towpath.providers.simulator.simulator import Simulator
from towpath.providers.simulator.typed_dicts import read

if TYPE_CHECKING:
    from starlette.requests import Request

KEY = "sk-secret-of-the-simulator"
WEBHOOK_SECRET = "whsec_c2VjcmV0IG9mIHRoZSBzaW11bGF0b3I="
_UPLOADED = FileCreateParams.__required_keys__ | FileCreateParams.__optional_keys__
_STATUS = {
    "waiting": "validating",
    "running": "in_progress",
    "odd": "pondering",
    "cancelled": "cancelled",
    "failed": "failed",
    "partial": "completed",
    "done": "completed",
}
_TYPES = {
    "denied": "invalid_request_error",
    "rate_limited": "requests",
    "broken": "server_error",
    "unavailable": "server_error",
}


class OpenAISimulator(Simulator):
    name = "OPENAI"

    @cached_property
    def app(self) -> Starlette:
        routes = [
            ("/v1/files", self._upload, "POST"),
            ("/v1/files/{id}/content", self._content, "GET"),
            ("/v1/files/{id}", self._delete, "DELETE"),
            ("/v1/batches", self._create, "POST"),
            ("/v1/batches", self._list, "GET"),
            ("/v1/batches/{id}", self._retrieve, "GET"),
            ("/v1/batches/{id}/cancel", self._cancel, "POST"),
        ]
        return Starlette(
            routes=[Route(path, gated(self, does, _sent, KEY, _refused), methods=[method]) for path, does, method in routes]
        )

    async def _upload(self, request: Request) -> Response:
        async with request.form(max_part_size=1 << 28) as form:
            file, purpose = form.get("file"), form.get("purpose")
            if not isinstance(file, UploadFile) or not set(form) <= _UPLOADED:
                raise Refusal("invalid", "'file' is a required property, and nothing but what there is may be given")
            if purpose not in get_args(FilePurpose):
                raise Refusal("invalid", f"{purpose!r} is not one of {get_args(FilePurpose)}")
            data, filename = await file.read(), file.filename or "file"
        file_id = self.new_id("file-")
        self.files[file_id] = data
        return _model(_file(file_id, data, filename, purpose))

    async def _content(self, request: Request) -> Response:
        data = self._bytes(request.path_params["id"])
        if self.faults.strikes(Fault.TRUNCATED):
            data = data[: len(data) // 2]
        return Response(data, media_type="application/octet-stream")

    async def _delete(self, request: Request) -> Response:
        self._bytes(file_id := request.path_params["id"])
        del self.files[file_id]
        return _model(FileDeleted(id=file_id, deleted=True, object="file"))

    async def _create(self, request: Request) -> Response:
        asked = read(BatchCreateParams, json.loads(await request.body()))
        lines = parsed(self._bytes(asked["input_file_id"]))
        key = " ".join(str(value) for value in (asked.get("metadata") or {}).values()) or asked["input_file_id"]
        job = self.accept(self.new_id("batch_"), key, asked, units=len(lines))
        if self.faults.strikes(Fault.LOST_ANSWER):
            raise Refusal("broken", "The server had an error while processing your request")
        return _model(self._batch(job, job.state))

    async def _list(self, request: Request) -> Response:
        limit = int(request.query_params.get("limit", 20))
        if not 1 <= limit <= 100:
            raise Refusal("invalid", "limit must be between 1 and 100")
        ids = [job_id for job_id in reversed(self.jobs) if self.found(job_id)]
        after = request.query_params.get("after")
        ids = ids[ids.index(after) + 1 :] if after in ids else ids
        page = [self._batch(self.jobs[job_id], self.jobs[job_id].state) for job_id in ids[:limit]]
        data = [batch.to_dict(mode="json") for batch in page]
        return JSONResponse({"object": "list", "data": data, "has_more": len(ids) > limit})

    async def _retrieve(self, request: Request) -> Response:
        job = self._job(request)
        state = job.look()
        if state == "gone":
            raise Refusal("unknown", f"No batch found with id '{job.id}'.")
        return _model(self._batch(job, state))

    async def _cancel(self, request: Request) -> Response:
        job = self._job(request)
        if job.state not in ("waiting", "running", "odd"):
            raise Refusal("conflict", f"Cannot cancel a batch with status '{_STATUS[job.state]}'.")
        batch = self._batch(job, job.state)
        job.cancelled = True
        return _model(batch.model_copy(update={"status": "cancelling"}))

    def _job(self, request: Request) -> SimulatedJob:
        job = self.found(request.path_params["id"])
        if job is None:
            raise Refusal("unknown", f"No batch found with id '{request.path_params['id']}'.")
        return job

    def _bytes(self, file_id: str) -> bytes:
        if file_id not in self.files:
            raise Refusal("unknown", f"No such File object: {file_id}")
        return self.files[file_id]

    def _batch(self, job: SimulatedJob, state: str) -> Batch:
        asked = job.request
        batch = Batch(
            id=job.id,
            object="batch",
            endpoint=asked["endpoint"],
            input_file_id=asked["input_file_id"],
            completion_window=asked["completion_window"],
            created_at=int(job.dated.timestamp()),
            status="validating",
            metadata=asked.get("metadata"),
        )
        lines = self._lines(asked["input_file_id"])
        wrong = [
            BatchError(code="invalid_json_line", line=at + 1, message=why) for at, why in misshapen(lines, asked["endpoint"])
        ]
        if state in ("done", "partial", "failed", "cancelled") and wrong:
            return batch.model_copy(update={"status": "failed", "errors": Errors(data=wrong, object="list")})
        if state == "failed":
            why = BatchError(code="token_limit_exceeded", message="Enqueued token limit reached for this organization.")
            return batch.model_copy(update={"status": "failed", "errors": Errors(data=[why], object="list")})
        ended = (
            self._ended(job, lines[:1] if state == "cancelled" else lines)
            if state in ("done", "partial", "cancelled")
            else {}
        )
        return batch.model_copy(update={"status": _STATUS[state], **ended})

    def _lines(self, file_id: str) -> list[BatchLine]:
        return parsed(self.files.get(file_id, b""))

    def _ended(self, job: SimulatedJob, lines: list[BatchLine]) -> dict[str, Any]:
        """The files of results, and what is in them."""
        made = int(job.dated.timestamp())
        good: list[str] = []
        bad: list[str] = []
        for number, line in enumerate(lines):
            succeeded, written = outcome(line, f"batch_req_{job.id}_{number}", job.fails(number), made)
            (good if succeeded else bad).append(written)
        found: dict[str, Any] = {}
        for name, results in (("output_file_id", good), ("error_file_id", bad)):
            if results:
                found[name] = f"file-{name[:3]}-{job.id}"
                self.files[found[name]] = "".join(results).encode()
        total = len(lines)
        return {**found, "request_counts": BatchRequestCounts(total=total, completed=len(good), failed=len(bad))}


def _file(file_id: str, data: bytes, filename: str, purpose: Any) -> FileObject:
    return FileObject(
        id=file_id,
        object="file",
        bytes=len(data),
        created_at=int(time.time()),
        filename=filename,
        purpose=purpose,
        status="processed",
    )


def _model(model: Any) -> Response:
    return JSONResponse(model.to_dict(mode="json"))


def _sent(request: Request) -> str:
    return request.headers.get("authorization", "").removeprefix("Bearer ")


def _refused(refusal: Refusal) -> Response:
    error = ErrorObject(
        message=refusal.message,
        type=_TYPES.get(refusal.kind, "invalid_request_error"),
        code="invalid_api_key" if refusal.kind == "denied" else None,
        param=None,
    )
    return JSONResponse({"error": error.to_dict(mode="json")}, refusal.status, headers=refusal.headers)

"""The Gemini API's Files and batches, as `google.genai` reads and writes them.

Every job that is answered has been read by the library's own converter first. The lines of a batch's files are as in the
library's README and in Google's guide to batches.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from google.genai import batches, types
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from towpath.providers.simulator.faults import Fault
from towpath.providers.simulator.gate import Refusal, gated
from towpath.providers.simulator.google_answers import generated, refused, wire
from towpath.providers.simulator.jobs import SimulatedJob
from towpath.providers.simulator.simulator import Simulator

if TYPE_CHECKING:
    from starlette.requests import Request

KEY = "AIza-secret-of-the-simulator"
WEBHOOK_SECRET = "whsec_c2VjcmV0IG9mIHRoZSBzaW11bGF0b3I="
_STATE = {
    "waiting": "BATCH_STATE_PENDING",
    "running": "BATCH_STATE_RUNNING",
    "odd": "BATCH_STATE_DREAMING",
    "cancelled": "BATCH_STATE_CANCELLED",
    "failed": "BATCH_STATE_FAILED",
    "partial": "BATCH_STATE_SUCCEEDED",
    "done": "BATCH_STATE_SUCCEEDED",
}


class GeminiSimulator(Simulator):
    name = "GEMINI"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.uploads: dict[str, tuple[types.File, bytearray]] = {}
        self.page = 50

    @cached_property
    def app(self) -> Starlette:
        routes = [
            ("/upload/{version}/files", self._start, "POST"),
            ("/{version}/files/{id}:download", self._download, "GET"),
            ("/{version}/files/{id}", self._delete_file, "DELETE"),
            ("/{version}/models/{model}:batchGenerateContent", self._create, "POST"),
            ("/{version}/batches", self._list, "GET"),
            ("/{version}/batches/{id}:cancel", self._cancel, "POST"),
            ("/{version}/batches/{id}", self._get, "GET"),
        ]
        guarded = [Route(path, gated(self, does, _sent, KEY, _refused), methods=[method]) for path, does, method in routes]
        return Starlette(routes=[Route("/uploading/{id}", self._upload, methods=["POST"]), *guarded])

    async def _start(self, request: Request) -> Response:
        asked = _read(types.File, json.loads(await request.body())["file"])
        headers = request.headers
        if headers.get("x-goog-upload-protocol") != "resumable" or headers.get("x-goog-upload-command") != "start":
            raise Refusal("invalid", "uploads are resumable")
        upload_id = self.new_id("up")
        self.uploads[upload_id] = (asked, bytearray())
        return JSONResponse({}, headers={"x-goog-upload-url": f"{self.url}/uploading/{upload_id}"})

    async def _upload(self, request: Request) -> Response:
        """Whoever has the link may upload."""
        asked, taken = self.uploads[request.path_params["id"]]
        if int(request.headers["x-goog-upload-offset"]) != len(taken):
            return refused(Refusal("invalid", "that is not where the upload is"))
        taken += await request.body()
        if "finalize" not in request.headers["x-goog-upload-command"]:
            return JSONResponse({}, headers={"x-goog-upload-status": "active"})
        if asked.size_bytes != len(taken):
            return refused(Refusal("invalid", "that is not the size that was announced"))
        name = self.new_id()
        self.files[name] = bytes(taken)
        file = types.File(
            name=f"files/{name}",
            uri=f"https://generativelanguage.googleapis.com/v1beta/files/{name}",
            display_name=asked.display_name,
            mime_type=asked.mime_type,
            size_bytes=len(taken),
            state=types.FileState.ACTIVE,
        )
        return JSONResponse({"file": wire(file)}, headers={"x-goog-upload-status": "final"})

    async def _download(self, request: Request) -> Response:
        if request.query_params.get("alt") != "media":
            raise Refusal("invalid", "alt=media is how files are downloaded")
        data = self._bytes(request.path_params["id"])
        if self.faults.strikes(Fault.TRUNCATED):
            data = data[: len(data) // 2]
        return Response(data, media_type="application/octet-stream")

    async def _delete_file(self, request: Request) -> Response:
        self._bytes(name := request.path_params["id"])
        del self.files[name]
        return JSONResponse({})

    async def _create(self, request: Request) -> Response:
        asked = json.loads(await request.body())
        batch = asked.get("batch") or {}
        if set(asked) != {"batch"} or not set(batch) <= {"displayName", "inputConfig", "webhookConfig"}:
            raise Refusal("invalid", "Invalid JSON payload received.")
        _read(types.CreateBatchJobConfig, {name: batch[name] for name in batch if name != "inputConfig"})
        source = _read(types.BatchJobSource, batch.get("inputConfig") or {})
        if not batch.get("displayName") or not source.file_name:
            raise Refusal("invalid", "display_name and input_config are required")
        lines = self._bytes(source.file_name.removeprefix("files/")).split(b"\n")
        held = {"batch": batch, "model": request.path_params["model"], "lines": [json.loads(line) for line in lines if line]}
        job = self.accept(self.new_id("batches/b"), batch["displayName"], held, units=len(held["lines"]))
        if self.faults.strikes(Fault.LOST_ANSWER):
            raise Refusal("broken", "An internal error has occurred.")
        return JSONResponse(self._operation(job, job.state))

    async def _list(self, request: Request) -> Response:
        size = min(int(request.query_params.get("pageSize", 10)), self.page)
        start = int(request.query_params.get("pageToken", 0))
        jobs = [job for job_id in self.jobs if (job := self.found(job_id))]
        page = [self._operation(job, job.state) for job in jobs[start : start + size]]
        after = {"nextPageToken": str(start + size)} if start + size < len(jobs) else {}
        return JSONResponse(({"operations": page} if page else {}) | after)

    async def _get(self, request: Request) -> Response:
        job = self._job(request)
        if (state := job.look()) == "gone":
            raise Refusal("unknown", f"{job.id} is not found.")
        return JSONResponse(self._operation(job, state))

    async def _cancel(self, request: Request) -> Response:
        job = self._job(request)
        if job.state not in ("waiting", "running", "odd"):
            raise Refusal("conflict", "The batch is not in a state that can be cancelled.")
        job.cancelled = True
        return JSONResponse({})

    def _job(self, request: Request) -> SimulatedJob:
        job = self.found(name := f"batches/{request.path_params['id']}")
        if job is None:
            raise Refusal("unknown", f"{name} is not found.")
        return job

    def _bytes(self, name: str) -> bytes:
        """A file that is not there is told from one that is somebody else's by nobody."""
        if name not in self.files:
            raise Refusal("forbidden", f"You do not have permission to access the File {name} or it may not exist.")
        return self.files[name]

    def _operation(self, job: SimulatedJob, state: str) -> dict[str, Any]:
        metadata: dict[str, Any] = {
            "model": f"models/{job.request['model']}",
            "displayName": job.request["batch"]["displayName"],
            "state": _STATE[state],
            "createTime": job.dated.isoformat(),
            "updateTime": _now(),
        }
        found: dict[str, Any] = {"name": job.id, "metadata": metadata}
        if state in ("done", "partial"):
            self.files[name := f"batch-{job.id.removeprefix('batches/')}"] = self._results(job)
            metadata |= {"endTime": _now(), "output": {"responsesFile": f"files/{name}"}}
            found |= {"done": True, "response": {"responsesFile": f"files/{name}"}}
        elif state in ("failed", "cancelled"):
            found |= {"done": True, "error": {"code": 13, "message": "The batch could not be processed."}}
        if state != "odd":  # the library warns of states that it does not know
            types.BatchJob.model_validate(batches._BatchJob_from_mldev(found))
        return found

    def _results(self, job: SimulatedJob) -> bytes:
        lines = []
        for number, line in enumerate(job.request["lines"]):
            try:
                result = {"response": generated(line["request"], job.request["model"], job.fails(number))}
            except Refusal as refusal:
                result = {"error": wire(types.JobError(code=3, message=refusal.message))}
            lines.append(json.dumps({"key": line["key"], **result}, ensure_ascii=False) + "\n")
        return "".join(lines).encode()


def _read(shape: Any, value: Any) -> Any:
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        raise Refusal("invalid", str(error.errors(include_url=False, include_input=False)[0]["msg"])) from None


def _sent(request: Request) -> str:
    return request.headers.get("x-goog-api-key", "")


def _refused(refusal: Refusal) -> Response:
    """A key that is not good is a bad request here."""
    if refusal.kind != "denied":
        return refused(refusal)
    reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}
    return refused(Refusal("invalid", refusal.message), [reason])


def _now() -> str:
    return datetime.now(UTC).isoformat()

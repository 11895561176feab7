"""Sarvam's batch speech-to-text: a job is made, its files are uploaded behind links, it is started. Only then it costs.

Written from the models of sarvamai, which take anything where they name what there is; here only what they name is taken.
"""

from __future__ import annotations

import hmac
import uuid
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from pydantic import ValidationError
from sarvamai.types import (
    BaseJobParameters,
    BulkJobInitResponse,
    ErrorMessage,
    FilesDownloadResponse,
    FilesRequest,
    FilesUploadResponse,
    JobStatusResponse,
)
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from towpath.providers.simulator.breaking import BreaksOff
from towpath.providers.simulator.faults import Fault
from towpath.providers.simulator.jobs import SimulatedJob
from towpath.providers.simulator.sarvam_jobs import Draft, NotTaken, details, drafted, transcript
from towpath.providers.simulator.simulator import RETRY_AFTER, Simulator

KEY = "secret-key-of-the-simulated-subscription"
_STATES = {
    "waiting": "Pending",
    "running": "Running",
    "odd": "Postprocessing",
    "failed": "Failed",
    "partial": "PartiallyCompleted",
    "done": "Completed",
}
_ENDED = ("failed", "partial", "done")


class _Wrong(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class SarvamSimulator(Simulator):
    name = "SARVAM"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.drafts: dict[str, Draft] = {}
        """Every job that was made, whether it was started or not."""
        self._links: dict[str, tuple[str, str]] = {}
        """The job and the file that a link is for, by its signature, until it expires."""

    @cached_property
    def app(self) -> Starlette:
        root = "/speech-to-text/job/v1"
        routes = [
            Route(root, self._guarded(self._initialise), methods=["POST"]),
            Route(f"{root}/upload-files", self._guarded(self._upload_links), methods=["POST"]),
            Route(f"{root}/download-files", self._guarded(self._download_links), methods=["POST"]),
            Route(f"{root}/{{id}}/start", self._guarded(self._start), methods=["POST"]),
            Route(f"{root}/{{id}}/status", self._guarded(self._status), methods=["GET"]),
            Route("/blobs/{name}", self._put, methods=["PUT"]),
            Route("/blobs/{name}", self._read, methods=["GET"]),
        ]
        return Starlette(routes=routes)

    def _guarded(self, handle: Any) -> Any:
        async def endpoint(request: Request) -> Response:
            try:
                self._admit(request)
                answer = handle(request, await request.body())
            except (ValidationError, NotTaken) as error:
                return _refused(400, "invalid_request_error", str(error))
            except _Wrong as wrong:
                return _refused(wrong.status, wrong.code, str(wrong))
            return JSONResponse(answer.model_dump(mode="json", exclude_none=True))

        return endpoint

    def _admit(self, request: Request) -> None:
        if self.faults.strikes(Fault.UNAVAILABLE):
            raise _Wrong(503, "internal_server_error", "The service is temporarily unavailable.")
        if self.faults.strikes(Fault.RATE_LIMITED):
            raise _Wrong(429, "rate_limit_exceeded_error", "Rate limit exceeded.")
        given = request.headers.get("api-subscription-key", "")
        if self.faults.strikes(Fault.DENIED) or not hmac.compare_digest(given, KEY):
            raise _Wrong(403, "invalid_api_key_error", "Invalid API key.")

    def _initialise(self, request: Request, body: bytes) -> BulkJobInitResponse:
        job_id, draft = str(uuid.UUID(int=self.random.getrandbits(128), version=4)), drafted(body)
        self.drafts[job_id] = draft
        parameters = BaseJobParameters.model_validate(draft.parameters.model_dump(exclude_none=True))
        return BulkJobInitResponse(
            job_id=job_id, job_state="Accepted", storage_container_type="Azure", job_parameters=parameters
        )

    def _upload_links(self, request: Request, body: bytes) -> FilesUploadResponse:
        asked = FilesRequest.model_validate_json(body)
        draft = self._draft(asked.job_id)
        if not 1 <= len(draft.files | set(asked.files)) <= 20:
            raise NotTaken("A job takes 1 to 20 files.")
        draft.files |= set(asked.files)
        links = self._signed(asked.job_id, asked.files)
        return FilesUploadResponse(
            job_id=asked.job_id, job_state="Accepted", storage_container_type="Azure", upload_urls=links
        )

    def _download_links(self, request: Request, body: bytes) -> FilesDownloadResponse:
        asked = FilesRequest.model_validate_json(body)
        job = self.found(asked.job_id)
        if job is None or job.state not in _ENDED:
            raise _Wrong(404, "not_found_error", "There are no results of this job.")
        made = {output.file_name for detail in details(job) for output in detail.outputs or []}
        if set(asked.files) - made:
            raise _Wrong(404, "not_found_error", "There is no such file.")
        links, state = self._signed(asked.job_id, asked.files), _STATES[job.state]
        return FilesDownloadResponse(
            job_id=asked.job_id, job_state=state, storage_container_type="Azure", download_urls=links
        )

    def _start(self, request: Request, body: bytes) -> JobStatusResponse:
        job_id = request.path_params["id"]
        draft = self._draft(job_id)
        if job_id in self.jobs:
            raise NotTaken("The job was started before.")
        if not draft.files or draft.files - set(draft.uploaded):
            raise NotTaken("Not all files were uploaded.")
        job = self.accept(job_id, ",".join(sorted(draft.files)), draft, len(draft.files))
        if self.faults.strikes(Fault.LOST_ANSWER):
            raise _Wrong(500, "internal_server_error", "Something went wrong.")
        return self._told(job_id, job, job.state)

    def _status(self, request: Request, body: bytes) -> JobStatusResponse:
        job_id = request.path_params["id"]
        self._draft(job_id)
        job = self.jobs.get(job_id)
        state = job.look() if job is not None else ""
        if state == "gone":
            raise _Wrong(404, "not_found_error", "There is no such job.")
        return self._told(job_id, job, state)

    def _told(self, job_id: str, job: SimulatedJob | None, state: str) -> JobStatusResponse:
        now, ended = datetime.now(UTC).isoformat(), state in _ENDED
        files = details(job) if job is not None and ended else []
        failed = sum(1 for file in files if file.state != "Success")
        return JobStatusResponse(
            job_id=job_id,
            job_state=_STATES.get(state, "Accepted"),
            created_at=now,
            updated_at=now,
            storage_container_type="Azure",
            total_files=len(self.drafts[job_id].files),
            successful_files_count=len(files) - failed if ended else 0,
            failed_files_count=failed,
            error_message="All files failed." if state == "failed" else None,
            job_details=files,
        )

    def _signed(self, job_id: str, names: list[str]) -> dict[str, Any]:
        links = {}
        for name in names:
            signature = self.new_id("sig")
            self._links[signature] = (job_id, name)
            links[name] = {"file_url": f"{self.url}/blobs/{name}?sp=rw&sig={signature}", "file_metadata": None}
        return links

    def _draft(self, job_id: str) -> Draft:
        draft = self.drafts.get(job_id)
        if draft is None:
            raise _Wrong(404, "not_found_error", "There is no such job.")
        return draft

    async def _put(self, request: Request) -> Response:
        """As Azure's storage takes a blob: whole, of a length that is said before."""
        job_id, name = self._links.get(request.query_params.get("sig", ""), ("", ""))
        if name != request.path_params["name"]:
            return Response("<Error><Code>AuthenticationFailed</Code></Error>", 403, media_type="application/xml")
        if request.headers.get("x-ms-blob-type") != "BlockBlob" or "content-length" not in request.headers:
            return Response("<Error><Code>MissingRequiredHeader</Code></Error>", 400, media_type="application/xml")
        self.drafts[job_id].uploaded[name] = await request.body()
        return Response(status_code=201)

    async def _read(self, request: Request) -> Response:
        signature = request.query_params.get("sig", "")
        if self.faults.strikes(Fault.EXPIRED_URL):
            self._links.pop(signature, None)
        if signature not in self._links:
            return Response("<Error><Code>AuthenticationFailed</Code></Error>", 403, media_type="application/xml")
        job_id, name = self._links[signature]
        sent = BreaksOff if self.faults.strikes(Fault.TRUNCATED) else Response
        return sent(transcript(self.jobs[job_id], name), media_type="application/json")


def _refused(status: int, code: str, message: str) -> Response:
    body = ErrorMessage.model_validate({"error": {"message": message, "code": code, "request_id": "simulated"}})
    limited = {"retry-after": str(RETRY_AFTER)} if status == 429 else None
    return JSONResponse(body.model_dump(mode="json", exclude_none=True), status, limited)

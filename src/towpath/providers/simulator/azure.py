"""Azure's Speech to text REST API: batch transcriptions, their lists, files and reports. See `azure_models.py`.

A job whose files fail one by one has succeeded all the same; only its report tells. Results lie behind links that expire.
"""

from __future__ import annotations

import hmac
import re
import uuid
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from towpath.providers.simulator.azure_models import Error, File, Page, Submission, Transcription
from towpath.providers.simulator.azure_results import contents
from towpath.providers.simulator.breaking import BreaksOff
from towpath.providers.simulator.faults import Fault
from towpath.providers.simulator.jobs import SimulatedJob
from towpath.providers.simulator.simulator import RETRY_AFTER, Simulator

KEY = "secret-key-of-the-simulated-resource"
VERSION = "2024-11-15"
LOOK_AGAIN = 1
"""Seconds after which a job that has not ended wants to be asked for again."""
_STATUS = {"waiting": "NotStarted", "running": "Running", "odd": "Postprocessing", "failed": "Failed"}
_NAMED = re.compile(r"displayName eq '((?:[^']|'')*)'")


class _Wrong(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class AzureSimulator(Simulator):
    name = "AZURE"

    def __init__(self, *, page: int = 100, **options: Any) -> None:
        super().__init__(**options)
        self._page = page
        self._links: dict[str, str] = {}
        """What links lead to, by their signature, until they expire."""

    @cached_property
    def app(self) -> Starlette:
        root, job = "/speechtotext/transcriptions", "/speechtotext/transcriptions/{id}"
        routes = [
            Route(f"{root}:submit", self._guarded(self._submit), methods=["POST"]),
            Route(root, self._guarded(self._list), methods=["GET"]),
            Route(f"{job}/files", self._guarded(self._files), methods=["GET"]),
            Route(job, self._guarded(self._get), methods=["GET"]),
            Route(job, self._guarded(self._delete), methods=["DELETE"]),
            Route("/blobs/{name}", self._content, methods=["GET"]),
        ]
        return Starlette(routes=routes)

    def _guarded(self, handle: Any) -> Any:
        async def endpoint(request: Request) -> Response:
            try:
                self._admit(request)
                answer: Response = handle(request, await request.body())
            except _Wrong as wrong:
                body = Error.model_validate({"code": wrong.code, "message": str(wrong)}).body()
                limited = {"retry-after": str(RETRY_AFTER)} if wrong.status == 429 else None
                return JSONResponse(body, wrong.status, limited)
            return answer

        return endpoint

    def _admit(self, request: Request) -> None:
        if self.faults.strikes(Fault.UNAVAILABLE):
            raise _Wrong(503, "ServiceUnavailable", "The service is unavailable.")
        if self.faults.strikes(Fault.RATE_LIMITED):
            raise _Wrong(429, "TooManyRequests", "Too many requests.")
        given = request.headers.get("ocp-apim-subscription-key", "")
        if self.faults.strikes(Fault.DENIED) or not hmac.compare_digest(given, KEY):
            raise _Wrong(401, "Unauthorized", "Access denied due to invalid subscription key or wrong API endpoint.")
        if request.query_params.get("api-version") != VERSION:
            raise _Wrong(400, "InvalidRequest", "The requested api version is not supported.")

    def _submit(self, request: Request, body: bytes) -> Response:
        try:
            given = Submission.model_validate_json(body)
        except ValidationError as error:
            raise _Wrong(400, "InvalidRequest", str(error)) from None
        job_id = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        job = self.accept(job_id, given.display_name, given, len(given.content_urls or []))
        if self.faults.strikes(Fault.LOST_ANSWER):
            raise _Wrong(500, "InternalServerError", "An internal error occurred.")
        told = self._told(job, job.state)
        return JSONResponse(told, 201, {"location": told["self"]})

    def _get(self, request: Request, body: bytes) -> Response:
        job = self._job(request)
        state = job.look()
        if state == "gone":
            raise _Wrong(404, "NotFound", "The specified entity cannot be found.")
        again = {"retry-after": str(LOOK_AGAIN)} if state in ("waiting", "running", "odd") else None
        return JSONResponse(self._told(job, state), headers=again)

    def _list(self, request: Request, body: bytes) -> Response:
        jobs = [job for job in self.jobs.values() if job.state not in ("gone", "cancelled")]
        if asked := request.query_params.get("filter"):
            named = _NAMED.fullmatch(asked)
            if named is None:
                raise _Wrong(400, "InvalidArgument", "The filter is not supported.")
            jobs = [job for job in jobs if job.key == named[1].replace("''", "'")]
        return self._paged(request, [self._told(job, job.state) for job in jobs])

    def _paged(self, request: Request, values: list[dict[str, Any]]) -> Response:
        skip = int(request.query_params.get("skip", 0))
        top = min(int(request.query_params.get("top", 100)), self._page)
        page: dict[str, Any] = {"values": values[skip : skip + top]}
        if skip + top < len(values):
            following = request.url.include_query_params(skip=skip + top, top=top)
            page["@nextLink"] = f"{self.url}{following.path}?{following.query}"
        return JSONResponse(Page.model_validate(page).body())

    def _delete(self, request: Request, body: bytes) -> Response:
        self.jobs.pop(request.path_params["id"], None)
        return Response(status_code=204)

    def _files(self, request: Request, body: bytes) -> Response:
        job = self._job(request)
        if job.state not in ("done", "partial", "failed"):
            return self._paged(request, [])
        return self._paged(request, [self._file(job, name, content) for name, content in contents(job).items()])

    def _file(self, job: SimulatedJob, name: str, content: bytes) -> dict[str, Any]:
        self.files[f"{job.id}/{name}"] = content
        signature = self.new_id("sig")
        self._links[signature] = f"{job.id}/{name}"
        told = {
            "self": f"{self._address(job)}/files/{uuid.uuid5(uuid.UUID(job.id), name)}?api-version={VERSION}",
            "name": name,
            "kind": "TranscriptionReport" if name == "report.json" else "Transcription",
            "links": {"contentUrl": f"{self.url}/blobs/{name}?se=2030-01-01&sp=rl&sig={signature}"},
            "properties": {"size": len(content)},
            "createdDateTime": datetime.now(UTC),
        }
        return File.model_validate(told).body()

    async def _content(self, request: Request) -> Response:
        signature = request.query_params.get("sig", "")
        if self.faults.strikes(Fault.EXPIRED_URL):
            self._links.pop(signature, None)
        if signature not in self._links:
            return Response("<Error><Code>AuthenticationFailed</Code></Error>", 403, media_type="application/xml")
        sent = BreaksOff if self.faults.strikes(Fault.TRUNCATED) else Response
        return sent(self.files[self._links[signature]], media_type="application/json")

    def _job(self, request: Request) -> SimulatedJob:
        job = self.found(request.path_params["id"])
        if job is None:
            raise _Wrong(404, "NotFound", "The specified entity cannot be found.")
        return job

    def _address(self, job: SimulatedJob) -> str:
        return f"{self.url}/speechtotext/transcriptions/{job.id}"

    def _told(self, job: SimulatedJob, state: str) -> dict[str, Any]:
        """Without the addresses of its files, which are not told again."""
        given: dict[str, Any] = job.request.body()
        given.pop("contentUrls", None)
        if state == "failed":
            given["properties"]["error"] = {"code": "InvalidData", "message": "The data of all files is invalid."}
        told = given | {
            "self": f"{self._address(job)}?api-version={VERSION}",
            "links": {"files": f"{self._address(job)}/files?api-version={VERSION}"},
            "status": _STATUS.get(state, "Succeeded"),
            "createdDateTime": datetime.now(UTC),
            "lastActionDateTime": datetime.now(UTC),
        }
        return Transcription.model_validate(told).body()

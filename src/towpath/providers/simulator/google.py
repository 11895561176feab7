"""Google's Speech-to-Text v2: batch recognition, its operations, and as much of Cloud Storage as reading results takes.

Requests and answers are the messages of google-cloud-speech, in their JSON form. An operation is done or not and has no
other status; results are read with credentials, and lie behind no links that could expire.
"""

from __future__ import annotations

import hmac
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from google.cloud.speech_v2.types import cloud_speech
from google.longrunning import operations_pb2
from google.protobuf import any_pb2, json_format
from google.rpc import status_pb2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from towpath.providers.simulator.breaking import BreaksOff
from towpath.providers.simulator.faults import Fault
from towpath.providers.simulator.google_results import outcome, written
from towpath.providers.simulator.jobs import SimulatedJob
from towpath.providers.simulator.simulator import RETRY_AFTER, Simulator

TOKEN = "secret-token-of-the-simulated-project"
_PROGRESS = {"waiting": 0, "running": 50}
_CANCELLED, _INTERNAL = 1, 13
"""Of google.rpc.Code."""


class _Wrong(Exception):
    def __init__(self, code: int, status: str, message: str) -> None:
        super().__init__(message)
        self.code, self.status = code, status


class GoogleSimulator(Simulator):
    name = "GOOGLE"

    def __init__(self, *, page: int = 100, **options: Any) -> None:
        super().__init__(**options)
        self._page = page

    @cached_property
    def app(self) -> Starlette:
        place = "/v2/projects/{project}/locations/{location}"
        routes = [
            Route(f"{place}/recognizers/{{recognizer}}:batchRecognize", self._guarded(self._recognize), methods=["POST"]),
            Route(f"{place}/operations", self._guarded(self._list), methods=["GET"]),
            Route(f"{place}/operations/{{operation}}:cancel", self._guarded(self._cancel), methods=["POST"]),
            Route(f"{place}/operations/{{operation}}", self._guarded(self._get), methods=["GET"]),
            Route("/storage/v1/b/{bucket}/o/{object:path}", self._guarded(self._object), methods=["GET"]),
        ]
        return Starlette(routes=routes)

    def _guarded(self, handle: Any) -> Any:
        async def endpoint(request: Request) -> Response:
            try:
                self._admit(request)
                answer: Response = handle(request, await request.body())
            except _Wrong as wrong:
                body = {"error": {"code": wrong.code, "message": str(wrong), "status": wrong.status}}
                limited = {"retry-after": str(RETRY_AFTER)} if wrong.code == 429 else None
                return JSONResponse(body, wrong.code, limited)
            return answer

        return endpoint

    def _admit(self, request: Request) -> None:
        if self.faults.strikes(Fault.UNAVAILABLE):
            raise _Wrong(503, "UNAVAILABLE", "The service is currently unavailable.")
        if self.faults.strikes(Fault.RATE_LIMITED):
            raise _Wrong(429, "RESOURCE_EXHAUSTED", "Quota exceeded.")
        if self.faults.strikes(Fault.DENIED):
            raise _Wrong(403, "PERMISSION_DENIED", "The caller does not have permission.")
        if not hmac.compare_digest(request.headers.get("authorization", ""), f"Bearer {TOKEN}"):
            raise _Wrong(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")

    def _recognize(self, request: Request, body: bytes) -> Response:
        place = request.path_params
        message = cloud_speech.BatchRecognizeRequest.pb(cloud_speech.BatchRecognizeRequest())
        try:
            json_format.Parse(body, message)
        except json_format.ParseError as error:
            raise _Wrong(400, "INVALID_ARGUMENT", str(error)) from None
        given = cloud_speech.BatchRecognizeRequest.wrap(message)
        given.recognizer = "projects/{project}/locations/{location}/recognizers/{recognizer}".format(**place)
        _check(given)
        name = "projects/{project}/locations/{location}/operations/".format(**place) + self.new_id()
        output = given.recognition_output_config.gcs_output_config.uri
        job = self.accept(name, output.rstrip("/").rpartition("/")[2], given, len(given.files))
        if self.faults.strikes(Fault.LOST_ANSWER):
            raise _Wrong(500, "INTERNAL", "Internal error encountered.")
        return _message(self._operation(job, job.state))

    def _get(self, request: Request, body: bytes) -> Response:
        job = self._job(request)
        state = job.look()
        if state == "gone":
            raise _Wrong(404, "NOT_FOUND", "Operation not found.")
        return _message(self._operation(job, state))

    def _list(self, request: Request, body: bytes) -> Response:
        size = min(int(request.query_params.get("pageSize") or 100), self._page)
        start = int(request.query_params.get("pageToken") or 0)
        place = "projects/{project}/locations/{location}/operations/".format(**request.path_params)
        jobs = [job for job in reversed(self.jobs.values()) if job.state != "gone" and job.id.startswith(place)]
        page = operations_pb2.ListOperationsResponse(
            operations=[self._operation(job, job.state) for job in jobs[start : start + size]],
            next_page_token=str(start + size) if start + size < len(jobs) else "",
        )
        return _message(page)

    def _cancel(self, request: Request, body: bytes) -> Response:
        job = self._job(request)
        if job.state in ("waiting", "running"):
            job.cancelled = True
        return JSONResponse({})

    def _object(self, request: Request, body: bytes) -> Response:
        content = self.files.get("gs://{bucket}/{object}".format(**request.path_params))
        if content is None or request.query_params.get("alt") != "media":
            raise _Wrong(404, "NOT_FOUND", "No such object.")
        sent = BreaksOff if self.faults.strikes(Fault.TRUNCATED) else Response
        return sent(content, media_type="application/json")

    def _job(self, request: Request) -> SimulatedJob:
        job = self.found("projects/{project}/locations/{location}/operations/{operation}".format(**request.path_params))
        if job is None:
            raise _Wrong(404, "NOT_FOUND", "Operation not found.")
        return job

    def metadata(self, job: SimulatedJob, state: str) -> cloud_speech.OperationMetadata:
        return cloud_speech.OperationMetadata(
            create_time=datetime.now(UTC),
            method="google.cloud.speech.v2.Speech.BatchRecognize",
            batch_recognize_request=job.request,
            progress_percent=_PROGRESS.get(state, 100),
        )

    def _operation(self, job: SimulatedJob, state: str) -> operations_pb2.Operation:
        metadata = self.metadata(job, state)
        told = operations_pb2.Operation(name=job.id, metadata=_packed(metadata), done=state not in _PROGRESS)
        if state == "cancelled":
            told.error.CopyFrom(status_pb2.Status(code=_CANCELLED, message="The operation was cancelled."))
        elif state == "failed":
            told.error.CopyFrom(status_pb2.Status(code=_INTERNAL, message="Internal error encountered."))
        elif told.done:
            self.files |= written(job)
            told.response.CopyFrom(_packed(outcome(job)))
        return told


def _check(given: cloud_speech.BatchRecognizeRequest) -> None:
    """What its documentation says of each field."""
    output = given.recognition_output_config
    if not 1 <= len(given.files) <= 15:
        raise _Wrong(400, "INVALID_ARGUMENT", "The number of files must be between 1 and 15.")
    if any(not file.uri.startswith("gs://") for file in given.files):
        raise _Wrong(400, "INVALID_ARGUMENT", "Audio must be in Cloud Storage.")
    if "inline_response_config" in output and len(given.files) != 1:
        raise _Wrong(400, "INVALID_ARGUMENT", "Inline results are only supported for one file.")
    if "inline_response_config" not in output and not output.gcs_output_config.uri.startswith("gs://"):
        raise _Wrong(400, "INVALID_ARGUMENT", "There must be an output.")
    if not given.config.language_codes:
        raise _Wrong(400, "INVALID_ARGUMENT", "There must be a language code.")


def _packed(message: Any) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(type(message).pb(message))
    return packed


def _message(message: Any) -> Response:
    return Response(json_format.MessageToJson(message), media_type="application/json")

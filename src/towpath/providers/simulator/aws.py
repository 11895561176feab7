"""Amazon Transcribe, and as much of S3 as handing over transcripts takes. Written from botocore's service model.

One job has one file. Results lie in a bucket of the service, behind links that expire, or in the caller's own.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from towpath.providers.simulator.aws_wire import Wrong, answer, read, refused, signed
from towpath.providers.simulator.breaking import BreaksOff
from towpath.providers.simulator.faults import Fault
from towpath.providers.simulator.jobs import SimulatedJob
from towpath.providers.simulator.simulator import RETRY_AFTER, Simulator

_STATUS = {"waiting": "QUEUED", "running": "IN_PROGRESS", "odd": "POSTPROCESSING", "failed": "FAILED", "done": "COMPLETED"}
_SERVICE_BUCKET = "aws-transcribe-simulated-prod"
_XML = '<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'


class AwsSimulator(Simulator):
    name = "AWS"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._links: set[str] = set()
        """Tokens of links into the service's bucket that have not expired."""

    @cached_property
    def app(self) -> Starlette:
        routes = [Route("/", self._call, methods=["POST"]), Route("/{bucket}/{key:path}", self._object, methods=["GET"])]
        return Starlette(routes=routes)

    async def _call(self, request: Request) -> Response:
        body = await request.body()
        operation = request.headers.get("x-amz-target", "").removeprefix("Transcribe.")
        try:
            self._admit(request, body)
            if operation not in _OPERATIONS:
                raise Wrong("UnknownOperationException", f"there is no {operation}", 400)
            return answer(operation, _OPERATIONS[operation](self, read(operation, body)))
        except Wrong as wrong:
            limited = {"retry-after": str(RETRY_AFTER)} if wrong.code == "LimitExceededException" else None
            return refused(wrong, limited)

    def _admit(self, request: Request, body: bytes) -> None:
        if self.faults.strikes(Fault.UNAVAILABLE):
            raise Wrong("ServiceUnavailable", "Service is unavailable.", 503)
        if self.faults.strikes(Fault.RATE_LIMITED):
            raise Wrong("LimitExceededException", "You have sent too many requests.")
        if self.faults.strikes(Fault.DENIED) or not signed(request, body):
            raise Wrong("UnrecognizedClientException", "The security token included in the request is invalid.", 400)

    def _start(self, given: dict[str, Any]) -> dict[str, Any]:
        name = given["TranscriptionJobName"]
        if sum(bool(given.get(way)) for way in ("LanguageCode", "IdentifyLanguage", "IdentifyMultipleLanguages")) != 1:
            raise Wrong("BadRequestException", "Give one of LanguageCode, IdentifyLanguage and IdentifyMultipleLanguages.")
        settings = given.get("Settings", {})
        if settings.get("ShowSpeakerLabels", False) != ("MaxSpeakerLabels" in settings):
            raise Wrong("BadRequestException", "ShowSpeakerLabels and MaxSpeakerLabels belong together.")
        if "OutputKey" in given and "OutputBucketName" not in given:
            raise Wrong("BadRequestException", "OutputKey needs OutputBucketName.")
        if self.found(name) is not None:
            raise Wrong("ConflictException", "The requested job name already exists. Use a different job name.")
        job = self.accept(name, name, given, 1)
        if self.faults.strikes(Fault.LOST_ANSWER):
            raise Wrong("InternalFailureException", "There was an internal error.")
        return {"TranscriptionJob": self._told(job, job.state)}

    def _get(self, given: dict[str, Any]) -> dict[str, Any]:
        job = self.jobs.get(given["TranscriptionJobName"])
        state = "gone" if job is None else job.look()
        if job is None or state == "gone":
            raise Wrong("NotFoundException", "We can't find the requested resource.")
        return {"TranscriptionJob": self._told(job, state)}

    def _list(self, given: dict[str, Any]) -> dict[str, Any]:
        """The newest first, without their media and settings."""
        wanted = given.get("Status")
        listed = [self._told(job, job.state) for job in reversed(self.jobs.values()) if self.found(job.id)]
        names = ("TranscriptionJobName", "TranscriptionJobStatus", "CreationTime", "LanguageCode", "FailureReason")
        found = [
            {name: job[name] for name in names if name in job}
            for job in listed
            if wanted in (None, job["TranscriptionJobStatus"])
        ]
        return {"TranscriptionJobSummaries": found[: given.get("MaxResults", 5)], **({"Status": wanted} if wanted else {})}

    def _told(self, job: SimulatedJob, state: str) -> dict[str, Any]:
        given = job.request
        told = {
            "TranscriptionJobName": job.id,
            "TranscriptionJobStatus": _STATUS[state],
            "CreationTime": datetime.now(UTC),
            **{name: given[name] for name in ("Media", "LanguageCode", "IdentifyLanguage", "Settings") if name in given},
        }
        if state == "failed":
            told["FailureReason"] = "Unsupported media format."
        if state == "done":
            told["Transcript"] = {"TranscriptFileUri": self._keep(job)}
        return told

    def _keep(self, job: SimulatedJob) -> str:
        """The transcript is written when it is first told of; a link into the service's bucket is new every time."""
        bucket = job.request.get("OutputBucketName", _SERVICE_BUCKET)
        key = _output_key(job) if "OutputBucketName" in job.request else f"000000000000/{job.id}/asrOutput.json"
        self.files[f"{bucket}/{key}"] = _transcript(job)
        if bucket != _SERVICE_BUCKET:
            return f"https://s3.us-east-1.amazonaws.com/{bucket}/{key}"
        token = self.new_id("link")
        self._links.add(token)
        return f"{self.url}/{bucket}/{key}?X-Amz-Expires=900&X-Amz-Signature={token}"

    async def _object(self, request: Request) -> Response:
        bucket, key = request.path_params["bucket"], request.path_params["key"]
        token = request.query_params.get("X-Amz-Signature", "")
        if token in self._links and self.faults.strikes(Fault.EXPIRED_URL):
            self._links.discard(token)
        allowed = token in self._links if bucket == _SERVICE_BUCKET else signed(request, b"")
        if not allowed:
            return _xml(403, "AccessDenied", "Request has expired")
        body = self.files.get(f"{bucket}/{key}")
        if body is None:
            return _xml(404, "NoSuchKey", "The specified key does not exist.")
        sent = BreaksOff if self.faults.strikes(Fault.TRUNCATED) else Response
        return sent(body, media_type="application/json")


_OPERATIONS = {
    "StartTranscriptionJob": AwsSimulator._start,
    "GetTranscriptionJob": AwsSimulator._get,
    "ListTranscriptionJobs": AwsSimulator._list,
}


def _output_key(job: SimulatedJob) -> str:
    """As its documentation has it: a key that ends in .json is a file's, any other a folder's."""
    key: str = job.request.get("OutputKey", "")
    if key.endswith(".json"):
        return key
    return f"{key.rstrip('/')}/{job.id}.json" if key else f"{job.id}.json"


def _transcript(job: SimulatedJob) -> bytes:
    spoken = urlsplit(job.request["Media"]["MediaFileUri"]).path.rpartition("/")[2]
    items = [
        {
            "type": "pronunciation",
            "start_time": f"{number * 0.5:.2f}",
            "end_time": f"{number * 0.5 + 0.4:.2f}",
            "alternatives": [{"confidence": "0.99", "content": word}],
        }
        for number, word in enumerate(["This", "is", spoken])
    ]
    results = {"transcripts": [{"transcript": f"This is {spoken}"}], "items": items}
    return json.dumps({"jobName": job.id, "accountId": "000000000000", "status": "COMPLETED", "results": results}).encode()


def _xml(status: int, code: str, message: str) -> Response:
    return Response(_XML.format(code=code, message=message), status, media_type="application/xml")

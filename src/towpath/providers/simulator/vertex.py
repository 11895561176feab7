"""Vertex AI's batch prediction jobs, as `google.genai` reads and writes them, with a Cloud Storage to work in.

Every job that is answered has been read by the library's own converter first. The lines of requests and results are as in
Google's guide to batch inference from Cloud Storage.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from google.genai import batches, types
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from towpath.providers.simulator.cloud_storage import CloudStorage
from towpath.providers.simulator.faults import Fault
from towpath.providers.simulator.gate import Refusal, gated
from towpath.providers.simulator.google_answers import generated, refused, wire
from towpath.providers.simulator.jobs import SimulatedJob
from towpath.providers.simulator.simulator import Simulator

if TYPE_CHECKING:
    from starlette.requests import Request

TOKEN = "ya29.secret-of-the-simulator"
_PATH = "/{version}/projects/{project}/locations/{location}/batchPredictionJobs"
_FIELDS = {"displayName", "model", "inputConfig", "outputConfig"}
_STATE = {
    "waiting": "JOB_STATE_PENDING",
    "running": "JOB_STATE_RUNNING",
    "odd": "JOB_STATE_DREAMING",
    "cancelled": "JOB_STATE_CANCELLED",
    "failed": "JOB_STATE_FAILED",
    "partial": "JOB_STATE_PARTIALLY_SUCCEEDED",
    "done": "JOB_STATE_SUCCEEDED",
}


class VertexSimulator(Simulator):
    name = "VERTEX"

    @cached_property
    def app(self) -> Starlette:
        routes = [
            (_PATH, self._create, "POST"),
            (_PATH, self._list, "GET"),
            (f"{_PATH}/{{id}}:cancel", self._cancel, "POST"),
            (f"{_PATH}/{{id}}", self._get, "GET"),
        ]
        guarded = [Route(path, gated(self, does, _sent, TOKEN, refused), methods=[method]) for path, does, method in routes]
        return Starlette(routes=[*CloudStorage(self, TOKEN).routes, *guarded])

    async def _create(self, request: Request) -> Response:
        asked = json.loads(await request.body())
        if set(asked) != _FIELDS or not 1 <= len(asked["displayName"]) <= 128:
            raise Refusal("invalid", "Invalid JSON payload received, or a displayName of no or more than 128 characters.")
        try:  # what the library reads of it is what was meant
            source = types.BatchJobSource.model_validate(batches._BatchJobSource_from_vertex(asked["inputConfig"]))
            target = types.BatchJobDestination.model_validate(
                batches._BatchJobDestination_from_vertex(asked["outputConfig"])
            )
        except ValidationError as error:
            raise Refusal("invalid", str(error.errors(include_url=False, include_input=False)[0]["msg"])) from None
        uris = source.gcs_uri or []
        if (source.format, target.format) != ("jsonl", "jsonl") or len(uris) != 1 or not target.gcs_uri:
            raise Refusal("invalid", "One JSONL file in, and a folder in Cloud Storage out, is what is supported.")
        if uris[0] not in self.files:
            raise Refusal("invalid", f"{uris[0]} was not found.")
        lines = [json.loads(line) for line in self.files[uris[0]].split(b"\n") if line]
        place = "projects/{project}/locations/{location}/batchPredictionJobs".format(**request.path_params)
        number = str(int(self.new_id(), 16))
        job = self.accept(f"{place}/{number}", asked["displayName"], {"asked": asked, "lines": lines}, units=len(lines))
        if self.faults.strikes(Fault.LOST_ANSWER):
            raise Refusal("broken", "Internal error encountered.")
        return JSONResponse(self._job_of(job, job.state))

    async def _list(self, request: Request) -> Response:
        size = min(int(request.query_params.get("pageSize", 50)), 100)
        start = int(request.query_params.get("pageToken", 0))
        wanted = _wanted(request.query_params.get("filter", ""))
        jobs = [job for job_id in reversed(self.jobs) if (job := self.found(job_id))]
        jobs = [job for job in jobs if wanted in (None, job.request["asked"]["displayName"])]
        page = [self._job_of(job, job.state) for job in jobs[start : start + size]]
        after = {"nextPageToken": str(start + size)} if start + size < len(jobs) else {}
        return JSONResponse(({"batchPredictionJobs": page} if page else {}) | after)

    async def _get(self, request: Request) -> Response:
        job = self._found(request)
        if (state := job.look()) == "gone":
            raise Refusal("unknown", f"The BatchPredictionJob {job.id} does not exist.")
        return JSONResponse(self._job_of(job, state))

    async def _cancel(self, request: Request) -> Response:
        job = self._found(request)
        if job.state not in ("waiting", "running", "odd"):
            raise Refusal("conflict", f"The job is in state {_STATE[job.state]} and cannot be cancelled.")
        job.cancelled = True
        return JSONResponse({})

    def _found(self, request: Request) -> SimulatedJob:
        name = "projects/{project}/locations/{location}/batchPredictionJobs/{id}".format(**request.path_params)
        job = self.found(name)
        if job is None:
            raise Refusal("unknown", f"The BatchPredictionJob {name} does not exist.")
        return job

    def _job_of(self, job: SimulatedJob, state: str) -> dict[str, Any]:
        asked = job.request["asked"]
        found: dict[str, Any] = {
            **asked,
            "name": job.id,
            "state": _STATE[state],
            "createTime": job.dated.isoformat(),
            "updateTime": _now(),
        }
        if state in ("done", "partial"):
            folder = (
                f"{asked['outputConfig']['gcsDestination']['outputUriPrefix']}/prediction-model-{job.id.rpartition('/')[2]}"
            )
            lines = [self._line(job, number, line) for number, line in enumerate(job.request["lines"])]
            self.files[f"{folder}/predictions.jsonl"] = "".join(text for _, text in lines).encode()
            failed = sum(not good for good, _ in lines)
            stats = types.CompletionStats(successful_count=len(lines) - failed, failed_count=failed)
            found |= {"endTime": _now(), "outputInfo": {"gcsOutputDirectory": folder}, "completionStats": wire(stats)}
        elif state == "failed":
            found |= {"endTime": _now(), "error": wire(types.JobError(code=13, message="The job could not be processed."))}
        if state != "odd":  # the library warns of states that it does not know
            types.BatchJob.model_validate(batches._BatchJob_from_vertex(found))
        return found

    def _line(self, job: SimulatedJob, number: int, line: dict[str, Any]) -> tuple[bool, str]:
        """A row repeats its request; what failed says so in its status."""
        row: dict[str, Any] = {"status": "", "processed_time": _now(), "request": line["request"], "response": {}}
        try:
            row["response"] = generated(line["request"], job.request["asked"]["model"], job.fails(number), labels=True)
        except Refusal as refusal:
            row["status"] = f"Bad Request: {refusal.message}"
        return not row["status"], json.dumps(row, ensure_ascii=False) + "\n"


def _wanted(query: str) -> str | None:
    """The display name that a filter asks for, in one of the forms of the API's reference."""
    if not query:
        return None
    found = re.fullmatch(r'(?:display_name|displayName)\s*=\s*"([^"]*)"', query)
    if found is None:
        raise Refusal("invalid", f"this filter is not understood here: {query}")
    return found[1]


def _sent(request: Request) -> str:
    return request.headers.get("authorization", "").removeprefix("Bearer ")


def _now() -> str:
    return datetime.now(UTC).isoformat()

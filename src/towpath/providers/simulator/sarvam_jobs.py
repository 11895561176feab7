"""What a job of Sarvam's is before it is started, and what becomes of its files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, get_args

from sarvamai.types import (
    BulkJobCallback,
    SpeechToTextJobParameters,
    SpeechToTextLanguage,
    SpeechToTextResponse,
    TaskDetail,
    TaskFileDetails,
    TimestampsModel,
)
from sarvamai.types.mode import Mode
from sarvamai.types.speech_to_text_batch_model import SpeechToTextBatchModel

from towpath.providers.simulator.jobs import SimulatedJob


class NotTaken(Exception):
    """A request that does not fit."""


@dataclass
class Draft:
    parameters: SpeechToTextJobParameters
    callback: BulkJobCallback | None
    files: set[str] = field(default_factory=set)
    uploaded: dict[str, bytes] = field(default_factory=dict)


def drafted(body: bytes) -> Draft:
    given: dict[str, Any] = json.loads(body)
    if set(given) - {"job_parameters", "callback"}:
        raise NotTaken(f"There is no {', '.join(sorted(set(given) - {'job_parameters', 'callback'}))}.")
    parameters = SpeechToTextJobParameters.model_validate(given["job_parameters"])
    callback = BulkJobCallback.model_validate(given["callback"]) if given.get("callback") else None
    for model in (parameters, callback):
        if model is not None and model.model_extra:
            raise NotTaken(f"There is no {', '.join(sorted(model.model_extra))}.")
    for value, named in (
        (parameters.language_code, SpeechToTextLanguage),
        (parameters.model, SpeechToTextBatchModel),
        (parameters.mode, Mode),
    ):
        if value is not None and value not in get_args(get_args(named)[0]):
            raise NotTaken(f"{value!r} is not one of those there are.")
    return Draft(parameters, callback)


def details(job: SimulatedJob) -> list[TaskDetail]:
    """One for each file, in the order of their names."""
    found = []
    for number, name in enumerate(sorted(job.request.files)):
        given = [TaskFileDetails(file_name=name, file_id=str(number))]
        if job.fails(number):
            failed = TaskDetail(
                inputs=given,
                outputs=[],
                state="API Error",
                error_message="The audio cannot be read.",
                exception_name="BadAudio",
            )
            found.append(failed)
        else:
            made = [TaskFileDetails(file_name=f"{number}.json", file_id=str(number))]
            found.append(TaskDetail(inputs=given, outputs=made, state="Success"))
    return found


def transcript(job: SimulatedJob, output: str) -> bytes:
    name = sorted(job.request.files)[int(output.removesuffix(".json"))]
    text = f"This is {name}, of {len(job.request.uploaded[name])} bytes."
    times = TimestampsModel(words=[text], start_time_seconds=[0.0], end_time_seconds=[1.5])
    said = SpeechToTextResponse(
        request_id="simulated",
        transcript=text,
        timestamps=times if job.request.parameters.with_timestamps else None,
        language_code=job.request.parameters.language_code,
    )
    return said.model_dump_json(exclude_none=True).encode()

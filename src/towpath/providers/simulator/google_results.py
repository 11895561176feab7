"""What a simulated batch recognition of Google's ends with: a transcript in Cloud Storage, or an error, for each file."""

from __future__ import annotations

from google.cloud.speech_v2.types import cloud_speech
from google.protobuf import duration_pb2
from google.rpc import status_pb2

from towpath.providers.simulator.jobs import SimulatedJob

_INVALID_ARGUMENT = 3
"""Of google.rpc.Code."""


def written(job: SimulatedJob) -> dict[str, bytes]:
    """By where they are written."""
    return {_place(job, n): _transcript(file.uri) for n, file in enumerate(job.request.files) if not job.fails(n)}


def outcome(job: SimulatedJob) -> cloud_speech.BatchRecognizeResponse:
    results = {}
    for number, file in enumerate(job.request.files):
        if job.fails(number):
            error = status_pb2.Status(code=_INVALID_ARGUMENT, message="Audio data is in no supported encoding.")
            results[file.uri] = cloud_speech.BatchRecognizeFileResult(error=error)
        else:
            kept = cloud_speech.CloudStorageResult(uri=_place(job, number))
            results[file.uri] = cloud_speech.BatchRecognizeFileResult(cloud_storage_result=kept, uri=kept.uri)
    return cloud_speech.BatchRecognizeResponse(results=results, total_billed_duration=duration_pb2.Duration(seconds=3))


def _place(job: SimulatedJob, number: int) -> str:
    output = job.request.recognition_output_config.gcs_output_config.uri.rstrip("/")
    name = job.request.files[number].uri.rpartition("/")[2].rpartition(".")[0]
    return f"{output}/{name}_transcript_{job.id[-8:]}.json"


def _transcript(uri: str) -> bytes:
    text = f"This is {uri.rpartition('/')[2]}"
    best = cloud_speech.SpeechRecognitionAlternative(transcript=text, confidence=0.9)
    result = cloud_speech.SpeechRecognitionResult(
        alternatives=[best], result_end_offset=duration_pb2.Duration(seconds=1), language_code="en-us"
    )
    text_of_it: str = cloud_speech.BatchRecognizeResults.to_json(cloud_speech.BatchRecognizeResults(results=[result]))
    return text_of_it.encode()

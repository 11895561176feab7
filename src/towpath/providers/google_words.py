"""Chat bodies in Gemini's words, and what its states, results and errors mean, in both of Google's batch APIs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from towpath.core.encoding import plain
from towpath.core.errors import Fatal, OperationError, SchemaInvalid
from towpath.providers.chat_bodies import Untranslatable, read
from towpath.providers.completions import answered
from towpath.providers.contract import Answer, Counts, Phase, Result
from towpath.providers.http_failures import of_status

if TYPE_CHECKING:
    from google.genai import types

_NUMBERS = {
    "temperature": "temperature",
    "top_p": "topP",
    "seed": "seed",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}
_ROLES = {"user": "user", "assistant": "model"}
_PHASES = {
    "JOB_STATE_SUCCEEDED": Phase.COMPLETED,
    "JOB_STATE_PARTIALLY_SUCCEEDED": Phase.PARTIAL,
    "JOB_STATE_FAILED": Phase.FAILED,
    "JOB_STATE_EXPIRED": Phase.FAILED,
    "JOB_STATE_CANCELLED": Phase.CANCELLED,
}
_BAD_KEY = ("API_KEY_INVALID", "API_KEY_SERVICE_BLOCKED", "API_KEY_EXPIRED")


def request_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """A GenerateContentRequest, as JSON."""
    asked = read(body, tuple(_NUMBERS))
    if any(turn.role == "system" for turn in asked.conversation):
        raise Untranslatable("a system message comes after the conversation has begun")
    config: dict[str, Any] = {_NUMBERS[name]: value for name, value in asked.numbers.items()}
    if asked.max_tokens:
        config["maxOutputTokens"] = asked.max_tokens
    if asked.stop:
        config["stopSequences"] = list(asked.stop)
    if asked.json:
        config["responseMimeType"] = "application/json"
    if asked.schema is not None:
        config["responseJsonSchema"] = asked.schema
    request: dict[str, Any] = {
        "contents": [{"role": _ROLES[turn.role], "parts": [{"text": turn.text}]} for turn in asked.conversation]
    }
    if asked.instructions:
        request["systemInstruction"] = {"parts": [{"text": text} for text in asked.instructions]}
    if config:
        request["generationConfig"] = config
    return request


def result_of(ref: str, response: Any) -> Result:
    """The result that a GenerateContentResponse is. A prompt that was blocked has none of the model's words in it."""
    response = response if isinstance(response, dict) else {}
    candidates = response.get("candidates") or []
    if not candidates:
        reason = (response.get("promptFeedback") or {}).get("blockReason") or "no answer"
        return Result(ref, error=f"Gemini did not answer: {reason}", code=str(reason))
    parts = (candidates[0].get("content") or {}).get("parts") or []
    text = "".join(part.get("text") or "" for part in parts if not part.get("thought"))
    usage = response.get("usageMetadata") or {}
    made = [usage.get(name) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
    return Result(
        ref,
        answered(text, response),
        tokens_in=usage.get("promptTokenCount"),
        tokens_out=sum(count or 0 for count in made) if any(count is not None for count in made) else None,
    )


def answer_of(job: types.BatchJob) -> Answer:
    status = str(job.state.value) if job.state else "JOB_STATE_UNSPECIFIED"
    phase, stats, counts = _PHASES.get(status, Phase.RUNNING), job.completion_stats, None
    if stats:
        done, failed = stats.successful_count or 0, stats.failed_count or 0
        counts = Counts(done + failed + max(stats.incomplete_count or 0, 0), done, failed)
        phase = Phase.PARTIAL if phase is Phase.COMPLETED and failed else phase
    error = None
    if phase is Phase.FAILED:
        said = job.error.message if job.error else None
        error = plain(said, 1000) if said else f"Google says {status} and no more"
    written = job.output_info.gcs_output_directory if job.output_info else job.dest.file_name if job.dest else None
    detail = {
        name: value.isoformat()
        for name in ("create_time", "start_time", "end_time")
        if (value := getattr(job, name)) is not None
    }
    return Answer(status, phase, error, counts=counts, output_uri=written, detail=detail)


def translated(provider: str, error: Exception, doing: str) -> OperationError | None:
    """The library's exceptions as the engine's categories; None for others."""
    from google.auth import exceptions
    from google.genai import errors

    if isinstance(error, errors.APIError):
        details = _details(error.details)
        if any(detail.get("reason") in _BAD_KEY for detail in details):
            return Fatal(
                f"{provider} refused the API key while {doing}", remedy="check the API key, and what it may be used for"
            )
        headers = getattr(error.response, "headers", None) or {}
        return of_status(provider, doing, int(error.code or 500), str(error.message or ""), headers, _wait(details))
    if isinstance(error, exceptions.TransportError):
        return None  # a lost connection
    if isinstance(error, exceptions.GoogleAuthError):
        return Fatal(
            f"Google gave no credentials for {provider} while {doing}: {type(error).__name__}",
            remedy="gcloud auth application-default login, or GOOGLE_APPLICATION_CREDENTIALS",
        )
    if isinstance(error, ValueError):  # what the library does not even send
        return SchemaInvalid(f"{provider}'s library refused it while {doing}: {plain(str(error), 300)}")
    return None


def _details(body: Any) -> list[dict[str, Any]]:
    error = body.get("error", body) if isinstance(body, dict) else {}
    details = error.get("details") if isinstance(error, dict) else None
    return [detail for detail in details or () if isinstance(detail, dict)]


def _wait(details: list[dict[str, Any]]) -> float | None:
    """What a RetryInfo asks for, such as `2s`."""
    for detail in details:
        try:
            return float(str(detail["retryDelay"]).removesuffix("s"))
        except (KeyError, ValueError):
            continue
    return None

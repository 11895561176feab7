"""What a simulated Gemini makes of a request, for both of Google's batch APIs, with the models of `google.genai.types`."""

from __future__ import annotations

from typing import Any

from google.genai import types
from pydantic import ValidationError
from starlette.responses import JSONResponse, Response

from towpath.providers.simulator.gate import Refusal
from towpath.providers.simulator.replies import last_of, reply_to, text_of, tokens
from towpath.providers.simulator.simulator import RETRY_AFTER

_FIELDS: dict[str, Any] = {
    "systemInstruction": types.Content,
    "generationConfig": types.GenerationConfig,
    "toolConfig": types.ToolConfig,
}
_STATUS = {
    "invalid": "INVALID_ARGUMENT",
    "denied": "UNAUTHENTICATED",
    "forbidden": "PERMISSION_DENIED",
    "unknown": "NOT_FOUND",
    "conflict": "FAILED_PRECONDITION",
    "rate_limited": "RESOURCE_EXHAUSTED",
    "broken": "INTERNAL",
    "unavailable": "UNAVAILABLE",
}


def generated(request: Any, model: str, fails: bool, *, labels: bool = False) -> dict[str, Any]:
    """The GenerateContentResponse to a GenerateContentRequest, as JSON; a Refusal if it is none. Only one of the two APIs
    takes labels."""
    contents = _contents(request, labels)
    if fails:
        raise Refusal("broken", "The model could not answer.")
    asked = last_of(contents, field="parts")
    answer = reply_to(asked)
    heard = " ".join(text_of(content["parts"]) for content in contents)
    read, made = tokens(heard), tokens(answer)
    response = types.GenerateContentResponse(
        model_version=model,
        response_id="simulated",
        candidates=[
            types.Candidate(
                content=types.Content(role="model", parts=[types.Part(text=answer)]), finish_reason=types.FinishReason.STOP
            )
        ],
        usage_metadata=types.GenerateContentResponseUsageMetadata(
            prompt_token_count=read, candidates_token_count=made, total_token_count=read + made
        ),
    )
    return wire(response)


def _contents(request: Any, labels: bool) -> list[dict[str, Any]]:
    allowed = {"contents", *_FIELDS} | ({"labels"} if labels else set())
    if not isinstance(request, dict) or not request.get("contents"):
        raise Refusal("invalid", "contents is not specified")
    if odd := sorted(set(request) - allowed):
        raise Refusal("invalid", f'Invalid JSON payload received. Unknown name "{odd[0]}"')
    try:
        for name, shape in _FIELDS.items():
            if name in request:
                shape.model_validate(request[name])
        found = [types.Content.model_validate(content) for content in request["contents"]]
    except ValidationError as error:
        raise Refusal("invalid", str(error.errors(include_url=False, include_input=False)[0]["msg"])) from None
    if any(content.role not in ("user", "model") for content in found):
        raise Refusal("invalid", "Please use a valid role: user, model.")
    for name, value in (request.get("labels") or {}).items():
        if not (value == value.lower() and len(value) <= 63 and len(name) <= 63):
            raise Refusal("invalid", f"label {name} is not valid")
    return [wire(content) for content in found]


def wire(model: Any) -> dict[str, Any]:
    """A model as it travels."""
    found: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found


def refused(refusal: Refusal, details: list[dict[str, Any]] | None = None) -> Response:
    """Google asks for time in the body, not in a header."""
    if refusal.kind == "rate_limited":
        details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{RETRY_AFTER}s"}]
    error = {"code": refusal.status, "message": refusal.message, "status": _STATUS[refusal.kind], "details": details or []}
    return JSONResponse({"error": error}, refusal.status)

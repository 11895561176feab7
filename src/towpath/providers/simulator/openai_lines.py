"""The lines of a batch: requests as OpenAI's guide to batches wants them, and what becomes of each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.chat.chat_completion import Choice
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

from towpath.providers.simulator.gate import Refusal
from towpath.providers.simulator.replies import last_of, reply_to, tokens
from towpath.providers.simulator.typed_dicts import read

Request = dict[str, Any]
_FIELDS = {"custom_id", "method", "url", "body"}


def parsed(data: bytes) -> list[Request]:
    """A line that is no JSON is an empty request, and `misshapen`."""
    return [_object(line) for line in data.split(b"\n") if line.strip()]


def _object(line: bytes) -> Request:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def misshapen(requests: list[Request], endpoint: str) -> Iterator[tuple[int, str]]:
    """What makes the whole batch fail, by line."""
    seen: set[str] = set()
    for at, request in enumerate(requests):
        if set(request) != _FIELDS or request["method"] != "POST":
            yield at, "This line is not a valid batch request."
        elif request["url"] != endpoint:
            yield at, "The URL provided for this request does not match the batch endpoint."
        elif request["custom_id"] in seen:
            yield at, "The custom_id for this request is a duplicate of another request."
        seen.add(request.get("custom_id", ""))


def outcome(request: Request, request_id: str, fails: bool, made: int) -> tuple[bool, str]:
    """Whether it went well, and its line in the file of results or of errors."""
    try:
        if fails:
            raise Refusal("broken", "The model could not answer.")
        body = read(CompletionCreateParamsNonStreaming, request["body"])
    except Refusal as refusal:
        error = {"message": refusal.message, "type": "invalid_request_error", "param": None, "code": "simulated"}
        return False, _line(request, request_id, refusal.status, {"error": error})
    return True, _line(request, request_id, 200, _completion(body, request_id, made).to_dict(mode="json"))


def _completion(body: dict[str, Any], request_id: str, made: int) -> ChatCompletion:
    asked = last_of(body["messages"])
    answer = reply_to(asked)
    read_tokens, made = tokens(" ".join(str(message.get("content")) for message in body["messages"])), tokens(answer)
    return ChatCompletion(
        id=f"chatcmpl-{request_id}",
        object="chat.completion",
        created=made,
        model=body["model"],
        choices=[Choice(index=0, finish_reason="stop", message=ChatCompletionMessage(role="assistant", content=answer))],
        usage=CompletionUsage(prompt_tokens=read_tokens, completion_tokens=made, total_tokens=read_tokens + made),
    )


def _line(request: Request, request_id: str, status: int, body: Any) -> str:
    response = {"status_code": status, "request_id": request_id, "body": body}
    line = {"id": request_id, "custom_id": request["custom_id"], "response": response, "error": None}
    return json.dumps(line, ensure_ascii=False) + "\n"

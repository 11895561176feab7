"""What becomes of each request of a message batch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from anthropic.types import Message, TextBlock, Usage
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from anthropic.types.messages import (
    MessageBatchCanceledResult,
    MessageBatchErroredResult,
    MessageBatchIndividualResponse,
    MessageBatchSucceededResult,
)
from anthropic.types.shared import APIErrorObject, ErrorResponse, InvalidRequestError

from towpath.providers.simulator.gate import Refusal
from towpath.providers.simulator.jobs import SimulatedJob
from towpath.providers.simulator.replies import last_of, reply_to, text_of, tokens
from towpath.providers.simulator.typed_dicts import read


def results_of(job: SimulatedJob) -> Iterator[tuple[str, str]]:
    """The kind of every result, and its line."""
    for number, request in enumerate(job.request["requests"]):
        result = _result(request["params"], f"{job.id}_{number}", job.fails(number), cancelled=job.cancelled)
        response = MessageBatchIndividualResponse(custom_id=request["custom_id"], result=result)
        yield result.type, json.dumps(response.to_dict(mode="json"), ensure_ascii=False) + "\n"


def _result(params: Any, message_id: str, fails: bool, *, cancelled: bool) -> Any:
    if cancelled:
        return MessageBatchCanceledResult(type="canceled")
    try:
        asked = read(MessageCreateParamsNonStreaming, params)
    except Refusal as refusal:
        return _errored(InvalidRequestError(message=refusal.message, type="invalid_request_error"))
    if fails:
        return _errored(APIErrorObject(message="The model could not answer.", type="api_error"))
    return MessageBatchSucceededResult(type="succeeded", message=_message(asked, message_id))


def _errored(error: Any) -> MessageBatchErroredResult:
    return MessageBatchErroredResult(type="errored", error=ErrorResponse(type="error", error=error))


def _message(asked: dict[str, Any], message_id: str) -> Message:
    answer = reply_to(last_of(asked["messages"]))
    heard = " ".join([text_of(asked.get("system")), *(text_of(message["content"]) for message in asked["messages"])])
    return Message(
        id=f"msg_{message_id}",
        type="message",
        role="assistant",
        model=asked["model"],
        content=[TextBlock(type="text", text=answer)],
        stop_reason="end_turn",
        usage=Usage(input_tokens=tokens(heard), output_tokens=tokens(answer), service_tier="batch"),
    )

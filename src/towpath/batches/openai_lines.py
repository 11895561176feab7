"""Files as OpenAI's batch API takes them: each line names its own model, and one line that does not fit refuses the file.

The answers go out as OpenAI writes them, too: what was answered in one file, what was not in another.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from towpath import BlobStore
from towpath.batches.lines import lines_of
from towpath.batches.names import OPENAI_FILE, results_key
from towpath.batches.reading import Asked, Unfit, parse
from towpath.batches.records import Batch

ENDPOINT = "/v1/chat/completions"
OUTPUT, ERROR = "output", "error"
_LONGEST_MODEL = 200
_PIECE = 256 * 1024
_ASKED_WRONGLY = ("refused", "invalid_request_error")


def written_for_openai(batch: Batch) -> bool:
    return OPENAI_FILE in batch.settings


def openai_line(line: bytes) -> Asked:
    """A request as OpenAI has it, with `method` and `url`, for the model in its body."""
    try:
        asked = parse(line)
    except Unfit as error:
        error.code = error.code or "invalid_json_line"
        raise
    value = json.loads(line)
    if value.get("method", "POST") != "POST":
        raise Unfit("its method must be POST", asked.custom_id, code="invalid_method", param="method")
    if value.get("url") != ENDPOINT:
        raise Unfit(f"its url must be {ENDPOINT}", asked.custom_id, code="invalid_url", param="url")
    model = value["body"].get("model")
    if not isinstance(model, str) or not 0 < len(model) <= _LONGEST_MODEL or not model.isprintable():
        why = f"its body has no model, which is a name of at most {_LONGEST_MODEL} characters"
        raise Unfit(why, asked.custom_id, code="missing_required_parameter", param="body.model")
    return Asked(asked.custom_id, asked.body, [model])


async def answered(blobs: BlobStore, batch: Batch, kind: str) -> AsyncGenerator[bytes, None]:
    """The lines of one of the two files, made of the results, in the order of the requests."""
    held = bytearray()
    number = 0
    async with aclosing(lines_of(blobs, results_key(batch.id))) as results:
        async for result in results:
            told = json.loads(result)
            if (told["error"] is None) == (kind == OUTPUT):
                held += _line(f"{batch.id.replace('-', '')}{number:08x}", told, int(batch.created_at.timestamp()))
            number += 1
            if len(held) >= _PIECE:
                yield bytes(held)
                held.clear()
    yield bytes(held)


def _line(request_id: str, told: dict[str, Any], made_at: int) -> bytes:
    response, error = None, told["error"]
    if error is None:
        response = _response(200, request_id, _completion(request_id, told, made_at))
    elif error["code"] in _ASKED_WRONGLY:
        body = {"message": error["message"], "type": "invalid_request_error", "param": None, "code": None}
        response, error = _response(400, request_id, {"error": body}), None
    line = {"id": f"batch_req_{request_id}", "custom_id": told["custom_id"], "response": response, "error": error}
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _completion(request_id: str, told: dict[str, Any], made_at: int) -> Any:
    """An answer as OpenAI writes it; around what was said in one of another shape, one of this shape is written."""
    answer = told["response"]
    if told["text"] is None or (isinstance(answer, dict) and "choices" in answer):
        return answer
    message = {"role": "assistant", "content": told["text"], "refusal": None}
    choice = {"index": 0, "finish_reason": "stop", "logprobs": None, "message": message}
    return {
        "id": f"chatcmpl-{request_id}", "object": "chat.completion", "created": made_at, "model": told["model"],
        "choices": [choice],
    }  # fmt: skip


def _response(status: int, request_id: str, body: Any) -> dict[str, Any]:
    return {"status_code": status, "request_id": f"req_{request_id}", "body": body}

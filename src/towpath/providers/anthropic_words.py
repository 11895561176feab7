"""Chat bodies in Anthropic's words, and what its statuses, results and errors mean."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from towpath.core.encoding import plain
from towpath.core.errors import Fatal, OperationError, Transient
from towpath.providers.chat_bodies import Untranslatable, read
from towpath.providers.completions import answered
from towpath.providers.contract import Answer, Counts, Phase, Result
from towpath.providers.http_failures import of_status

if TYPE_CHECKING:
    from anthropic.types.messages import MessageBatch

_MARK = 16
_LONGEST = 64 - _MARK - 1
_PLAIN = re.compile(rf"[a-zA-Z0-9_-]{{1,{_LONGEST}}}")
_ACCOUNT = ("authentication_error", "billing_error", "permission_error")
_WITHOUT_ANSWER = {"canceled": "it was cancelled before its turn came", "expired": "its turn did not come within 24 hours"}


def mark_of(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:_MARK]


def sent_id(key: str, ref: str) -> str:
    """An id that Anthropic takes, 64 of `[a-zA-Z0-9_-]`: the order's mark, and the ref or what it is encoded as."""
    if _PLAIN.fullmatch(ref):
        return f"{mark_of(key)}-{ref}"
    encoded = base64.urlsafe_b64encode(ref.encode()).decode().rstrip("=")
    if len(encoded) > _LONGEST:
        raise Untranslatable(f"its id is too long: {_LONGEST} of [a-zA-Z0-9_-], or {_LONGEST * 3 // 4} bytes, are allowed")
    return f"{mark_of(key)}_{encoded}"


def ref_of(custom_id: str) -> tuple[str, str]:
    """The mark and the ref of an id that was sent."""
    mark, kind, rest = custom_id[:_MARK], custom_id[_MARK : _MARK + 1], custom_id[_MARK + 1 :]
    if kind != "_":
        return mark, rest
    try:
        return mark, base64.urlsafe_b64decode(rest + "=" * (-len(rest) % 4)).decode()
    except ValueError:  # somebody else's
        return mark, rest


def params_of(body: Mapping[str, Any], model: str, max_tokens: int) -> dict[str, Any]:
    asked = read(body, _numbers())
    params: dict[str, Any] = {
        "model": model,
        "max_tokens": asked.max_tokens or max_tokens,
        "messages": [{"role": turn.role, "content": turn.text} for turn in asked.conversation],
        **asked.numbers,
    }
    if asked.instructions:
        params["system"] = [{"type": "text", "text": text} for text in asked.instructions]
    if asked.stop:
        params["stop_sequences"] = list(asked.stop)
    if asked.schema is not None:
        params["output_config"] = {"format": {"type": "json_schema", "schema": asked.schema}}
    elif asked.json:
        raise Untranslatable("there is nothing like 'json_object', only 'json_schema'")
    return params


@cache
def _numbers() -> tuple[str, ...]:
    """What the library that is installed knows of them: since its version 2.0 there are none."""
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming as Known

    return tuple(name for name in ("temperature", "top_p") if name in Known.__required_keys__ | Known.__optional_keys__)


def answer_of(batch: MessageBatch) -> Answer:
    told = batch.request_counts
    failed = told.errored + told.expired + told.canceled
    counts = Counts(told.succeeded + failed + told.processing, told.succeeded, failed)
    phase = Phase.RUNNING
    if batch.processing_status == "ended":
        phase = Phase.PARTIAL if failed else Phase.COMPLETED
        if batch.cancel_initiated_at and told.canceled:
            phase = Phase.CANCELLED
    detail = {"created_at": batch.created_at.isoformat(), "expires_at": batch.expires_at.isoformat()}
    return Answer(batch.processing_status, phase, counts=counts, output_uri=batch.results_url, detail=detail)


def result_of(line: Mapping[str, Any]) -> Result:
    ref, result = ref_of(str(line.get("custom_id")))[1], line.get("result") or {}
    kind = str(result.get("type"))
    if kind != "succeeded":
        error = (result.get("error") or {}).get("error") or {}
        why = error.get("message") or _WITHOUT_ANSWER.get(kind) or "no reason was given"
        return Result(ref, error=plain(str(why), 1000), code=str(error.get("type") or kind))
    message = result.get("message") or {}
    usage = message.get("usage") or {}
    read_tokens = [usage.get(name) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")]
    text = "".join(block.get("text") or "" for block in message.get("content") or () if block.get("type") == "text")
    return Result(
        ref,
        answered(text, message),
        tokens_in=sum(count or 0 for count in read_tokens) if usage else None,
        tokens_out=usage.get("output_tokens"),
    )


def translated(provider: str, error: Exception, doing: str) -> OperationError | None:
    """The library's exceptions as the engine's categories; None for others."""
    import anthropic

    if isinstance(error, anthropic.APIStatusError):
        said = error.body if isinstance(error.body, dict) else {}
        told = said.get("error") if isinstance(said.get("error"), dict) else {}
        kind = str((told or {}).get("type"))
        if kind in _ACCOUNT:
            return Fatal(
                f"{provider} refused the account while {doing} ({kind})", remedy="check the credentials, and the plan"
            )
        return of_status(provider, doing, error.status_code, str((told or {}).get("message") or ""), error.response.headers)
    if isinstance(error, anthropic.APIConnectionError):
        return Transient(f"{provider} could not be reached while {doing}: {type(error).__name__}")
    if isinstance(error, anthropic.AnthropicError):
        return Transient(f"{provider}'s library could not do it while {doing}: {type(error).__name__}")
    return None

"""What OpenAI's statuses, result lines and errors mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from towpath.core.encoding import plain
from towpath.core.errors import Fatal, OperationError, Transient
from towpath.providers.completions import answered
from towpath.providers.contract import Answer, Counts, Phase, Result
from towpath.providers.http_failures import of_status

if TYPE_CHECKING:
    from openai.types import Batch

ENDED = ("completed", "failed", "expired", "cancelled")
_EMPTY_ACCOUNT = ("insufficient_quota", "billing_hard_limit_reached")


def answer_of(batch: Batch) -> Answer:
    given = batch.request_counts
    counts = Counts(given.total, given.completed, given.failed) if given else None
    detail = {
        name: value
        for name in ("output_file_id", "error_file_id", "created_at", "expires_at", "model")
        if (value := getattr(batch, name, None)) is not None
    }
    return Answer(batch.status, _phase(batch.status, counts), _reason(batch), counts=counts, detail=detail)


def _phase(status: str, counts: Counts | None) -> Phase:
    if status == "completed":
        return Phase.PARTIAL if counts and counts.failed else Phase.COMPLETED
    if status == "expired":  # what was done in time is there and paid for
        return Phase.PARTIAL if counts and counts.completed else Phase.FAILED
    return {"failed": Phase.FAILED, "cancelled": Phase.CANCELLED}.get(status, Phase.RUNNING)


def _reason(batch: Batch) -> str | None:
    if batch.status == "expired":
        return f"not all of it was done within {batch.completion_window}"
    if batch.status != "failed":
        return None
    errors = (batch.errors.data if batch.errors else None) or []
    told = [f"{error.code}: {error.message}" + (f" (line {error.line})" if error.line else "") for error in errors[:5]]
    return plain("; ".join(told), 1000) or "no reason was given"


def result_of(line: Mapping[str, Any]) -> Result:
    """A line of either file of a batch."""
    ref, response, error = str(line.get("custom_id", "")), line.get("response") or {}, line.get("error")
    body = response.get("body") or {}
    status = response.get("status_code")
    if error is None and status != 200:
        error = body.get("error") if isinstance(body, dict) else None
        error = error if isinstance(error, dict) else {"message": f"it was answered with {status}", "code": status}
    if error is not None:
        code = error.get("code") or error.get("type") or status
        return Result(ref, error=plain(str(error.get("message") or code or "no reason was given"), 1000), code=_word(code))
    usage = body.get("usage") or {}
    return Result(
        ref,
        answered(_text(body), body),
        tokens_in=usage.get("prompt_tokens"),
        tokens_out=usage.get("completion_tokens"),
    )


def _text(body: Mapping[str, Any]) -> str:
    try:
        return body["choices"][0]["message"]["content"] or ""
    except (KeyError, IndexError, TypeError):
        return ""


def _word(code: Any) -> str | None:
    return None if code is None else str(code)


def translated(provider: str, error: Exception, doing: str) -> OperationError | None:
    """The library's exceptions as the engine's categories; None for others."""
    import openai

    if isinstance(error, openai.APIStatusError):
        if error.code in _EMPTY_ACCOUNT:
            return Fatal(f"{provider}'s account has nothing left to spend, said while {doing}", remedy="top up the account")
        return of_status(provider, doing, error.status_code, str(error.message), error.response.headers)
    if isinstance(error, openai.APIConnectionError):
        return Transient(f"{provider} could not be reached while {doing}: {type(error).__name__}")
    if isinstance(error, openai.OpenAIError):
        return Transient(f"{provider}'s library could not make sense of the answer while {doing}: {type(error).__name__}")
    return None

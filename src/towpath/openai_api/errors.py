"""Errors as OpenAI tells them: `{"error": {"message", "type", "param", "code"}}`."""

from __future__ import annotations

from fastapi.responses import JSONResponse

from towpath import plain_text
from towpath.http.problem import Problem

_LONGEST = 2000
_CODES = {
    401: "invalid_api_key", 403: "insufficient_permissions", 413: "file_too_large", 429: "rate_limit_exceeded",
    503: "service_unavailable",
}  # fmt: skip


class Refused(Problem):
    """With a code of OpenAI's, for what the general table has no word for."""

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> None:
        slug = "not_found" if status == 404 else "conflict" if status == 409 else "invalid"
        super().__init__(slug, status, message, errors=[(param, message)] if param else ())  # type: ignore[arg-type]  # a Slug
        self.code = code


def wrong(param: str, message: str, code: str = "invalid_value") -> Refused:
    return Refused(400, message, param=param, code=code)


def no_file(file_id: str) -> Refused:
    """The same for one that is somebody else's."""
    return Refused(404, f"No such File object: {file_id[:100]}", param="id")


def no_batch(batch_id: str) -> Refused:
    return Refused(404, f"No batch found with id '{batch_id[:100]}'.", param="id")


def told(problem: Problem, instance: str) -> JSONResponse:
    status = 400 if problem.status in (415, 422) else problem.status
    code = problem.code if isinstance(problem, Refused) else _CODES.get(status)
    message = problem.detail if problem.remedy is None else f"{problem.detail}. To help: {problem.remedy}"
    error = {
        "message": plain_text(message, _LONGEST),
        "type": _type(status),
        "param": problem.errors[0].path if problem.errors else None,
        "code": code,
    }
    return JSONResponse({"error": error}, status, headers=problem.headers)


def _type(status: int) -> str:
    if status == 429:
        return "requests"
    return "server_error" if status >= 500 else "invalid_request_error"

"""Errors as RFC 9457 problem documents: what happened, why, what to do, and the id to find it by in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from towpath.blobs import BlobError, BlobNotFound, BlobStoreUnavailable
from towpath.core.encoding import plain
from towpath.core.errors import (
    ConfigurationError,
    EncodingError,
    JobNotFound,
    NameTaken,
    NotRequeueable,
    PayloadTooLarge,
    QueueNotFound,
    ScheduleNotFound,
    SchemaInvalid,
    StoreUnavailable,
    TowpathError,
    UnknownOperation,
)
from towpath.http import asset_problems
from towpath.http.dialects import speaker_at
from towpath.http.facts import facts_in
from towpath.http.problem import TITLES, FieldProblem, Problem, conflict, invalid, not_found
from towpath.http.problem_kinds import Slug
from towpath.http.telling import told
from towpath.identity.errors import AccountConflict, AccountNotFound, LoginRefused, ProviderUnavailable, Throttled

# Routes raise them from here; what must do without a server takes them from where they are made.
__all__ = [
    "TITLES", "FieldProblem", "Problem", "ProblemDocument", "answer", "conflict", "install", "internal", "invalid",
    "not_found", "problem_of", "request_id", "responses",
]  # fmt: skip

log = logging.getLogger("towpath.http")

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = 2  # seconds; a database that restarts is back after a few of these

SLUGS: dict[int, Slug] = {
    401: "unauthenticated", 403: "forbidden", 404: "not_found", 409: "conflict", 413: "too_large", 429: "throttled",
    500: "internal", 503: "unavailable",
}  # fmt: skip


class ProblemDocument(BaseModel):
    """An error (RFC 9457)."""

    type: str = Field(description="`/problems/` and its kind; there is a page about it.", examples=["/problems/not_found"])
    title: str
    status: int
    detail: str = Field(description="What happened, and what was given.")
    remedy: str | None = Field(description="What to do about it.")
    instance: str = Field(description="The id of the request; the server's log has it too.")
    errors: list[FieldProblem] | None = Field(default=None, description="What does not fit, part by part.")


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For the OpenAPI of a route: the statuses particular to it, such as 404 or 409. What every route may answer (400,
    401, 403, 413, 415, 422, 500, 503, as far as it can) is added when the document is made."""
    return {status: {"model": ProblemDocument, "description": TITLES[status]} for status in statuses}


def problem_of(error: Exception) -> Problem | None:
    """The problem an expected error stands for; None if nobody expected it."""
    if isinstance(error, Problem):
        return error
    return next((made(error) for kind, made in _MADE.items() if isinstance(error, kind)), None)


def _plainly(slug: Slug, status: int) -> Callable[[Any], Problem]:
    return lambda error: Problem(slug, status, str(error))


def _schema_invalid(error: SchemaInvalid) -> Problem:
    path = error.path or ""
    message = str(error).removeprefix(f"{path}: ") if path else str(error)
    return Problem("invalid", 422, str(error), remedy=error.remedy, errors=[(path, message)] if path else [])


def _unavailable(error: Exception) -> Problem:
    log.warning("the storage did not serve a request: %s", error)
    return Problem(
        "unavailable",
        503,
        "the storage behind this server cannot serve this request right now",
        remedy="try again in a few seconds",
        headers={"Retry-After": str(RETRY_AFTER)},
    )


def _unfitting(error: RequestValidationError) -> Problem:
    """Says where and what, never what was given: that may be a password."""
    found = [(_path(item["loc"]), str(item["msg"])) for item in error.errors()]
    first = found[0] if found else ("", "the request does not fit")
    return Problem("invalid", 422, f"{first[0]}: {first[1]}" if first[0] else first[1], errors=found)


def _path(location: Sequence[Any]) -> str:
    """Without the leading `body`, `query` or `path`, which the route's documentation tells."""
    return ".".join(str(part) for part in location[1:]) or str(location[0])


def _http_problem(error: HTTPException) -> Problem:
    """What the framework itself refuses, such as a body that cannot be read."""
    return Problem(SLUGS.get(error.status_code, "invalid"), error.status_code, str(error.detail), headers=error.headers)


def _login_refused(error: LoginRefused) -> Problem:
    """The same for a name that nobody has and for a wrong password."""
    return Problem(
        "login_refused", 401, str(error), title="The log-in was refused", remedy=error.remedy,
        headers={"WWW-Authenticate": "Bearer"},
    )  # fmt: skip


def _throttled(error: Throttled) -> Problem:
    return Problem("throttled", 429, str(error), headers={"Retry-After": str(error.seconds)})


def _with_remedy(error: QueueNotFound | ScheduleNotFound) -> Problem:
    return Problem("not_found", 404, str(error), remedy=error.remedy)


def _ours_or_theirs(error: ConfigurationError) -> Problem | None:
    """A name or a number that cannot be is the caller's. One with a cause came from below, and is ours."""
    return Problem("invalid", 422, str(error)) if error.__cause__ is None else None


# In this order: the more particular kinds come first.
_MADE: dict[type[Exception], Callable[[Any], Problem | None]] = asset_problems.MADE | {
    JobNotFound: _plainly("not_found", 404),
    QueueNotFound: _with_remedy,
    ScheduleNotFound: _with_remedy,
    UnknownOperation: _plainly("not_found", 404),
    AccountNotFound: _plainly("not_found", 404),
    SchemaInvalid: _schema_invalid,
    PayloadTooLarge: _plainly("too_large", 413),
    EncodingError: _plainly("invalid", 422),
    NotRequeueable: _plainly("conflict", 409),
    NameTaken: _plainly("conflict", 409),
    AccountConflict: _plainly("conflict", 409),
    LoginRefused: _login_refused,
    Throttled: _throttled,
    ProviderUnavailable: _plainly("unavailable", 503),
    StoreUnavailable: _unavailable,
    BlobStoreUnavailable: _unavailable,
    BlobNotFound: lambda _: not_found("what was stored here is gone"),
    ConfigurationError: _ours_or_theirs,
    RequestValidationError: _unfitting,
    HTTPException: _http_problem,
}


def request_id(request: Request) -> str:
    return facts_in(request.scope).request_id


def answer(problem: Problem, instance: str, scope: MutableMapping[str, Any]) -> JSONResponse:
    speaker = speaker_at(scope)
    if speaker is not None:
        return speaker(problem, instance)
    document = ProblemDocument(
        type=f"/problems/{problem.slug}",
        title=problem.title,
        status=problem.status,
        detail=plain(problem.detail),
        remedy=problem.remedy,
        instance=instance,
        errors=problem.errors or None,
    )
    content = document.model_dump(exclude={"errors"} if document.errors is None else None)
    return JSONResponse(content, problem.status, headers=problem.headers, media_type=MEDIA_TYPE)


def internal(instance: str, scope: MutableMapping[str, Any]) -> JSONResponse:
    """The same few words for every error nobody expected; what it was is in the log under the id."""
    problem = Problem(
        "internal", 500, "the server met an error it did not expect; it has been logged",
        remedy=f"if it happens again, tell whoever runs this server the id {instance}",
    )  # fmt: skip
    return answer(problem, instance, scope)


async def _handle(request: Request, error: Exception) -> JSONResponse:
    from towpath.http.methods import nothing_there  # which stands on what is here

    lost = isinstance(error, HTTPException) and error.status_code in (404, 405)
    problem = nothing_there(request) if lost else problem_of(error)
    instance = request_id(request)
    if problem is None:
        log.error("request %s failed: %s", instance, told(request.scope), exc_info=error)
        return internal(instance, request.scope)
    return answer(problem, instance, request.scope)


def install(api: FastAPI) -> None:
    """Makes every error of the routes a problem document, and completes the OpenAPI by what any route may answer."""
    from towpath.http.openapi import completed

    for kind in (TowpathError, BlobError, Problem, RequestValidationError, HTTPException, Exception):
        api.add_exception_handler(kind, _handle)
    make = api.openapi

    def openapi() -> dict[str, Any]:
        if api.openapi_schema is None:
            api.openapi_schema = completed(make())
        return api.openapi_schema

    api.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to change it

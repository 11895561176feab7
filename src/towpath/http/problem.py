"""A problem as it is raised: what happened, what was given, what to do. `problems.py` makes an answer of it.

It needs nothing of a server: files are received, and refused, by commands that run without one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from towpath.http.problem_kinds import Slug

TITLES = {
    400: "The request cannot be read",
    401: "Nobody is logged in",
    403: "This is not allowed",
    404: "There is no such thing",
    405: "This address does not take that method",
    409: "This does not fit the present state",
    410: "It is not there any more",
    412: "The request lacks a condition",
    413: "The request is too large",
    415: "The request must be JSON",
    416: "The range lies outside the file",
    422: "The request does not fit",
    429: "Too many attempts",
    500: "Something went wrong here",
    503: "Not available right now",
}


class FieldProblem(BaseModel):
    """One part of the request that does not fit."""

    path: str = Field(description="Where: field names and positions joined by dots.")
    message: str


class Problem(Exception):
    """Raised by routes; becomes the answer."""

    def __init__(
        self,
        slug: Slug,
        status: int,
        detail: str,
        *,
        title: str | None = None,
        remedy: str | None = None,
        errors: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.slug: Slug = slug
        self.status, self.detail, self.remedy = status, detail, remedy
        self.title = title or TITLES.get(status, "This did not work")
        self.errors = [FieldProblem(path=path, message=message) for path, message in errors]
        self.headers = dict(headers or {})


def not_found(what: str = "there is nothing here under this id") -> Problem:
    """For ids that do not exist and for those of other tenants: the answers must not differ."""
    return Problem("not_found", 404, what)


def invalid(path: str, message: str, *, remedy: str | None = None) -> Problem:
    """One field of the request does not fit."""
    return Problem("invalid", 422, f"{path}: {message}", remedy=remedy, errors=[(path, message)])


def conflict(detail: str, *, remedy: str | None = None) -> Problem:
    return Problem("conflict", 409, detail, remedy=remedy)

"""What assets refuse, as problems. Assets themselves know nothing of HTTP: commands receive files without a server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from towpath.assets.errors import AssetNotFound, AssetRefused, Misplaced, Why
from towpath.http.problem import Problem, not_found
from towpath.http.problem_kinds import Slug

_REFUSED: dict[Why, tuple[Slug, int]] = {
    "unfit": ("invalid", 422),
    "too_large": ("too_large", 413),
    "no_room": ("too_large", 413),
    "too_many": ("throttled", 429),
    "not_allowed": ("forbidden", 403),
}


def status_of(why: Why) -> int:
    return _REFUSED[why][1]


def _refused(error: AssetRefused) -> Problem:
    slug, status = _REFUSED[error.why]
    message = str(error).removeprefix(f"{error.path}: ")
    return Problem(slug, status, str(error), remedy=error.remedy, errors=[(error.path, message)] if error.path else [])


def _misplaced(error: Misplaced) -> Problem:
    return Problem(
        "conflict", 409, str(error), remedy="ask with HEAD where it goes on, and send the rest from there",
        headers={"Upload-Offset": str(error.expected)},
    )  # fmt: skip


MADE: dict[type[Exception], Callable[[Any], Problem | None]] = {
    AssetNotFound: lambda error: not_found(str(error)),
    AssetRefused: _refused,
    Misplaced: _misplaced,
}

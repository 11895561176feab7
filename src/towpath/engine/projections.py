"""How a product's things are told of on the push stream: a job of a subject changed, so the subject is told of anew.

A slice registers a projection once, with `@app.projection(kind)`. The stream hands it the ids of subjects that have changed,
and sends what it answers as a message of that kind; the browser stores and shows it, and derives nothing. A subject that
the projection answers nothing for is gone, and is told of as `<kind>.deleted`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Projection:
    """A subject as it is now: whose it is, and what its readers are told, as JSON."""

    tenant: str
    json: str


Project = Callable[[Sequence[str]], Awaitable[Mapping[str, Projection]]]
"""Ids of subjects -> what there is to tell of those that exist."""

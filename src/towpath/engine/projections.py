"""How a product's things are told of on the push stream: a job of a subject changed, so the subject is told of anew.

A slice registers a projection once, with `@app.projection(kind)`. The stream hands it the ids of subjects that have changed,
and sends what it answers as a message of that kind; the browser stores and shows it, and derives nothing. A subject that
the projection answers nothing for is gone, and is told of as `<kind>.deleted`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from towpath.core.errors import ConfigurationError, NameTaken
from towpath.engine.registry import check_name

JOB, DELETED, RESET = "job", "deleted", "reset"
"""The stream's own messages."""
GONE = ".deleted"
"""After a kind: one of them is gone."""


@dataclass(frozen=True, slots=True)
class Projection:
    """A subject as it is now: whose it is, and what its readers are told, as JSON. Without a tenant it concerns only those
    who see what is everybody's."""

    tenant: str | None
    json: str


Project = Callable[[Sequence[str]], Awaitable[Mapping[str, Projection]]]
"""Ids of subjects -> what there is to tell of those that exist."""


def add(known: dict[str, Project], kind: str, project: Project) -> None:
    """The same one again changes nothing."""
    check_name("a subject's kind", kind)
    if kind in (JOB, DELETED, RESET) or kind.endswith(GONE):
        raise ConfigurationError(
            f"subjects of kind {kind!r} cannot be told of: the stream has a message of that name; choose another kind"
        )
    if known.setdefault(kind, project) is not project:
        raise NameTaken(f"{known[kind]!r} tells of subjects of kind {kind!r} already; {project!r} needs a kind of its own")

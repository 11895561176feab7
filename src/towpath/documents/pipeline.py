"""The steps of a document, as data: what each needs, and who does it. What does not need each other runs at the same time.

FETCHED → CONTENT_EXTRACTED → (CHUNKED → EMBEDDED ∥ ENTITY_EXTRACTED ∥ steps that others add) → PERSISTED → INDEXED
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from towpath import App, ConfigurationError
from towpath.documents.names import (
    CHUNKED,
    CONTENT_EXTRACTED,
    DONE,
    EMBEDDED,
    ENQUEUED,
    ENTITY_EXTRACTED,
    FAILED,
    FETCHED,
    INDEXED,
    PERSISTED,
)
from towpath.documents.work import Work

Function = Callable[[Work], Awaitable[Any]]
_NAME = re.compile(r"[A-Z][A-Z0-9_]{1,49}")
_BEFORE, _AFTER = (FETCHED, CONTENT_EXTRACTED), (PERSISTED, INDEXED)


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    run: Function
    needs: tuple[str, ...] = (CONTENT_EXTRACTED,)


class Pipeline:
    """Kept on an app: the steps between the text and its rows. Each comes after what it needs."""

    def __init__(self) -> None:
        self.between: list[Step] = []

    @property
    def names(self) -> tuple[str, ...]:
        """Every step in order; ENQUEUED and DONE are where an item is before and after them."""
        return (*_BEFORE, *(step.name for step in self.between), *_AFTER)

    def add(self, step: Step) -> None:
        if not _NAME.fullmatch(step.name) or step.name in (ENQUEUED, DONE, FAILED):
            raise ConfigurationError(f"a step is named in capitals for what is done, such as TRANSLATED, got {step.name!r}")
        if step.name in self.names:
            raise ConfigurationError(f"there is a step {step.name} already; give this one another name")
        known = {CONTENT_EXTRACTED, *(one.name for one in self.between)}
        if not step.needs or not set(step.needs) <= known:
            raise ConfigurationError(f"{step.name} needs one or more of {', '.join(sorted(known))}, got {step.needs!r}")
        self.between.append(step)


def add_step(app: App, name: str, run: Function, *, needs: Sequence[str] = (CONTENT_EXTRACTED,)) -> None:
    """A step of your own for every document, once it has its text. It runs beside those that it does not need, and
    everything waits for it before PERSISTED. What it answers is recorded, and it is not run again. Call it on every app that
    serves or works, after `attach` and before the app is opened."""
    app.part(Pipeline).add(Step(name, run, tuple(needs)))


def usual(app: App) -> None:
    from towpath.documents.steps.chunking import chunk
    from towpath.documents.steps.embedding import embed
    from towpath.documents.steps.recognizing import recognize

    pipeline = app.part(Pipeline)
    pipeline.add(Step(CHUNKED, chunk))
    pipeline.add(Step(EMBEDDED, embed, (CHUNKED,)))
    pipeline.add(Step(ENTITY_EXTRACTED, recognize))

"""The steps of a document, as data: what each needs, and who does it. What does not need each other runs at the same time.

FETCHED → CONTENT_EXTRACTED → (CHUNKED → EMBEDDED ∥ ENTITY_EXTRACTED ∥ steps that others add) → PERSISTED → INDEXED
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from towpath import App, ConfigurationError
from towpath.documents.asking import text_and_passages, the_file
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
from towpath.documents.options import Options
from towpath.documents.remote import HttpStep
from towpath.documents.steps.chunking import chunk
from towpath.documents.steps.embedding import embed, embedding_costs
from towpath.documents.steps.extracting import extract
from towpath.documents.steps.recognizing import recognize
from towpath.documents.steps.remotely import SHAPES, remote_step
from towpath.documents.work import Work

Function = Callable[[Work], Awaitable[Any]]
Costs = Callable[[Work], Awaitable[float | None]]
_NAME = re.compile(r"[A-Z][A-Z0-9_]{1,49}")
_BEFORE, _AFTER = (FETCHED, CONTENT_EXTRACTED), (PERSISTED, INDEXED)


async def free(work: Work) -> float | None:
    return None


@dataclass(frozen=True, slots=True)
class Step:
    """`costs` tells how many cents are to be held back before it is run; None: it is free."""

    name: str
    run: Function
    needs: tuple[str, ...] = (CONTENT_EXTRACTED,)
    costs: Costs = free


class Pipeline:
    """Kept on an app: the steps between the text and its rows. Each comes after what it needs."""

    def __init__(self) -> None:
        self.extracting = Step(CONTENT_EXTRACTED, extract, (FETCHED,))
        self.between: list[Step] = []

    @property
    def names(self) -> tuple[str, ...]:
        """Every step in order; ENQUEUED and DONE are where an item is before and after them."""
        return (*_BEFORE, *(step.name for step in self.between), *_AFTER)

    @property
    def replaceable(self) -> tuple[str, ...]:
        """The steps that a service may do instead: the others are about files and rows that are here."""
        return (CONTENT_EXTRACTED, *(step.name for step in self.between))

    def add(self, step: Step) -> None:
        if not _NAME.fullmatch(step.name) or step.name in (ENQUEUED, DONE, FAILED):
            raise ConfigurationError(f"a step is named in capitals for what is done, such as TRANSLATED, got {step.name!r}")
        if step.name in self.names:
            raise ConfigurationError(f"there is a step {step.name} already; give this one another name")
        known = {CONTENT_EXTRACTED, *(one.name for one in self.between)}
        if not step.needs or not set(step.needs) <= known:
            raise ConfigurationError(f"{step.name} needs one or more of {', '.join(sorted(known))}, got {step.needs!r}")
        self.between.append(step)

    def served(self, options: Options) -> tuple[Step, list[Step]]:
        """The step that reads the file, and those after it; services do those for which people have named one."""
        return _served(self.extracting, options), [_served(step, options) for step in self.between]


def _served(step: Step, options: Options) -> Step:
    url = options.remote.get(step.name)
    if url is None:
        return step
    question = the_file if step.name == CONTENT_EXTRACTED else text_and_passages
    service = HttpStep(url, cents=options.remote_cents, trusted=False, question=question)
    return by_service(step.name, service, step.needs)


def by_service(name: str, service: HttpStep, needs: tuple[str, ...]) -> Step:
    async def ask(work: Work) -> Any:
        return await service.ask(work, name, needs)

    async def costs(work: Work) -> float | None:
        return service.cents

    return Step(name, remote_step(name, service, needs) if name in SHAPES else ask, needs, costs)


def add_step(app: App, name: str, run: Function | HttpStep, *, needs: Sequence[str] = (CONTENT_EXTRACTED,)) -> None:
    """A step of your own for every document, once it has its text. It runs beside those that it does not need, and
    everything waits for it before PERSISTED. What it answers is recorded, and it is not run again. Call it on every app that
    serves or works, after `attach` and before the app is opened. `http_step` makes one that a service does."""
    step = by_service(name, run, tuple(needs)) if isinstance(run, HttpStep) else Step(name, run, tuple(needs))
    app.part(Pipeline).add(step)


def usual(app: App) -> None:
    pipeline = app.part(Pipeline)
    pipeline.add(Step(CHUNKED, chunk))
    pipeline.add(Step(EMBEDDED, embed, (CHUNKED,), embedding_costs))
    pipeline.add(Step(ENTITY_EXTRACTED, recognize))

"""One file of results: a line for every request and model, in the order of the requests, those that could not be asked in
their places. It is written as it is read, a line at a time."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from typing import Any

from towpath import BlobStore
from towpath.batches.answers import error_of
from towpath.batches.completion_results import answer_line
from towpath.batches.lines import lines_of
from towpath.batches.names import answers_key, index_key
from towpath.batches.records import Batch
from towpath.batches.status import of_model

_PIECE = 256 * 1024
Place = tuple[int, int]
"""A model's place in the list of the batch, and a shard of it."""
Line = Callable[[dict[str, Any], str | None, Any, Any], dict[str, Any]]
"""What is told of one input and model: given the line of the index, the model, the response and the error."""


@dataclass(slots=True)
class Tally:
    """What has become of one model's requests."""

    model: str
    ok: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    unmeasured: int = 0
    """Answers that nobody told the tokens of."""

    def add(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """One more answer."""
        self.ok += 1
        self.unmeasured += tokens_in is None and tokens_out is None
        self.tokens_in += tokens_in or 0
        self.tokens_out += tokens_out or 0

    @property
    def status(self) -> str:
        return of_model(self.ok, self.failed)


@dataclass(frozen=True, slots=True)
class Lost:
    """An order that came to nothing: the requests that it had, by their numbers, and why."""

    model: int
    first: int
    last: int
    why: str


class Merging:
    """`shards` are those that were ordered, `lost` those of them that came to nothing, `line` words a line."""

    def __init__(
        self, blobs: BlobStore, batch: Batch, shards: Sequence[Place], lost: Sequence[Lost], line: Line | None = None
    ) -> None:
        self._blobs, self._batch, self._shards, self._lost = blobs, batch, shards, lost
        self._line = line or answer_line
        self.tallies = [Tally(model) for model in batch.models]
        self.orders = {place: Tally(batch.models[place[0]]) for place in shards}
        self.first_error: str | None = None

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        held = bytearray()
        async with AsyncExitStack() as stack:
            models = [await stack.enter_async_context(aclosing(self._of_model(n))) for n in range(len(self._batch.models))]
            heads: list[dict[str, Any] | None] = [await anext(answers, None) for answers in models]
            index = await stack.enter_async_context(aclosing(lines_of(self._blobs, index_key(self._batch.id))))
            number = -1
            async for line in index:
                number += 1
                asked = json.loads(line)
                if "reason" in asked:
                    held += _encoded(self._line(asked, None, None, error_of(asked["reason"], "invalid_input")))
                    continue
                for model in asked.get("models", range(len(models))):
                    head = heads[model]
                    while head is not None and head["n"] < number:  # of a request that was not its to answer
                        head = heads[model] = await anext(models[model], None)
                    found = head if head is not None and head["n"] == number else None
                    held += _encoded(self._told(model, number, asked, found))
                if len(held) >= _PIECE:
                    yield bytes(held)
                    held.clear()
        yield bytes(held)

    async def _of_model(self, model: int) -> AsyncGenerator[dict[str, Any], None]:
        for place in self._shards:
            key = answers_key(self._batch.id, *place)
            if place[0] != model or await self._blobs.head(key) is None:
                continue
            async with aclosing(lines_of(self._blobs, key)) as lines:
                async for line in lines:
                    yield json.loads(line) | {"place": place}

    def _told(self, model: int, number: int, asked: dict[str, Any], found: dict[str, Any] | None) -> dict[str, Any]:
        tally = self.tallies[model]
        if found is not None and "error" not in found:
            tally.add(found["tokens_in"], found["tokens_out"])
            self.orders[found["place"]].add(found["tokens_in"], found["tokens_out"])
            return self._line(asked, tally.model, found["response"], None)
        tally.failed += 1
        error = found["error"] if found is not None else self._missing(model, number)
        self.first_error = self.first_error or error["message"]
        return self._line(asked, tally.model, None, error)

    def _missing(self, model: int, number: int) -> dict[str, str]:
        for lost in self._lost:
            if lost.model == model and lost.first <= number <= lost.last:
                return error_of(lost.why)
        return error_of("there is no result of it", "not_answered")


def _encoded(told: dict[str, Any]) -> bytes:
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"

"""Texts of several documents go to the model together, and one that it refuses is no trouble of the others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from towpath import SchemaInvalid, Transient
from towpath.documents.grouping import Grouping


class Model:
    """Holds its first call until it is let go."""

    name, dimensions = "model", 1

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.go, self.called = threading.Event(), threading.Event()
        self.error: Exception | None = None

    def embed(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        self.called.set()
        assert self.go.wait(30)
        if "bad" in texts:
            raise SchemaInvalid("this text is too long")
        if self.error is not None:
            raise self.error
        return np.array([[float(len(text))] for text in texts], dtype=np.float32)


async def _asked(model: Model, *documents: list[str]) -> list[Any]:
    """The first has the model; the others come meanwhile."""
    grouping = Grouping()
    tasks = [asyncio.create_task(grouping.embed(model, texts)) for texts in documents[:1]]
    await asyncio.to_thread(model.called.wait, 30)
    tasks += [asyncio.create_task(grouping.embed(model, texts)) for texts in documents[1:]]
    await asyncio.sleep(0)
    model.go.set()
    return list(await asyncio.gather(*tasks, return_exceptions=True))


async def test_what_comes_while_the_model_works_is_asked_together() -> None:
    model = Model()
    first, second, third = await _asked(model, ["a"], ["bb", "ccc"], ["dddd"])
    assert model.calls == [["a"], ["bb", "ccc", "dddd"]]
    assert [rows.tolist() for rows in (first, second, third)] == [[[1.0]], [[2.0], [3.0]], [[4.0]]]


async def test_a_text_that_is_refused_fails_its_own_document_only() -> None:
    _, good, bad = await _asked(Model(), ["a"], ["bb"], ["bad"])
    assert good.tolist() == [[2.0]]
    assert isinstance(bad, SchemaInvalid)


@pytest.mark.parametrize("error", [Transient("it is away"), ValueError("it is broken")])
async def test_a_model_that_is_away_is_not_asked_once_for_each(error: Exception) -> None:
    model = Model()
    model.error = error
    assert await _asked(model, ["a"], ["bb"], ["ccc"]) == [error] * 3
    assert len(model.calls) == 2


async def test_a_long_document_goes_in_several_calls() -> None:
    model = Model()
    model.go.set()
    rows = await Grouping().embed(model, ["x"] * 1100)
    assert [len(call) for call in model.calls] == [512, 512, 76]
    assert len(rows) == 1100

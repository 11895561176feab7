"""Which model says what a text means. Passages and questions have to be told by the same one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from towpath import App, RateLimited, SchemaInvalid, Transient
from towpath.models import embeddings
from towpath.search.records import Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.float32]


_log = logging.getLogger(__name__)
_PATIENCE = 10.0
"""Seconds that somebody who searches waits for a model."""


class Embedder(Protocol):
    """A row of length 1 per text, or of zeros where a text says nothing. May block: it is called in a thread. One that is
    asked over the network may have a `budget`: the name of the rate budget that its 429 blocks."""

    @property
    def name(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    def embed(self, texts: Sequence[str]) -> Rows: ...


class OnThisMachine:
    name = embeddings.NAME
    dimensions = embeddings.DIMENSIONS

    def embed(self, texts: Sequence[str]) -> Rows:
        return embeddings.embed(texts)


class Meaning:
    """Kept on an app: its embedder, which is the one on this machine if nobody has named another and it is installed."""

    def __init__(self) -> None:
        self.embedder: Embedder | None = OnThisMachine() if find_spec("wordllama") else None

    async def of(self, question: str) -> Rows | None:
        """The direction of a question, or None if there is no model or the question says nothing to it."""
        if self.embedder is None:
            return None
        try:
            async with asyncio.timeout(_PATIENCE):
                [row] = await asyncio.to_thread(self.embedder.embed, [question])
        except (TimeoutError, Transient, RateLimited) as error:
            _log.warning("a question is answered by its words only: %s", str(error) or "the model did not answer in time")
            return None
        return row if row.any() else None


def embedded(texts: Sequence[str], embedder: Embedder | None = None) -> Vectors:
    """What passages mean, as `replace` takes it. Blocks: call it in a thread (`ctx.in_thread`), outside of transactions."""
    model = embedder or OnThisMachine()
    return packed(model.name, model.embed(texts))


async def meanings(app: App, texts: Sequence[str]) -> Vectors | None:
    """The same with the app's own embedder, beside the event loop; None where it has none, and then words have to do."""
    embedder = app.part(Meaning).embedder
    return None if embedder is None else await asyncio.to_thread(embedded, texts, embedder)


def packed(model: str, rows: Rows) -> Vectors:
    return Vectors(model, rows.shape[1], rows.astype("<f2").tobytes())


def unpacked(vectors: Vectors) -> Rows:
    import numpy as np

    if len(vectors.packed) % (2 * vectors.dimensions):
        raise SchemaInvalid(
            f"{len(vectors.packed):,} bytes are no whole rows of {vectors.dimensions} 16-bit floats", path="vectors"
        )
    return np.frombuffer(vectors.packed, dtype="<f2").reshape(-1, vectors.dimensions).astype(np.float32)

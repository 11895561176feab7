"""Text as vectors at any OpenAI-compatible `/embeddings`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from towpath.core.errors import ConfigurationError
from towpath.models.settings import ModelSettings
from towpath.models.wire import Service, service

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_PATH = "/embeddings"


class AtAService:
    """Known by its model alone: wherever that runs, it says the same of a text."""

    def __init__(self, asked: Service, model: str) -> None:
        self._service, self.name = asked, model
        self.dimensions = 0
        """Known from the first answer on."""

    @property
    def budget(self) -> str:
        """The name of the rate budget that a 429 blocks: that of this model of this service."""
        return self._service.budget

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 per text, or of zeros where a text says nothing. Blocks. RateLimited, Transient, SchemaInvalid
        or Fatal if there are none; see `wire`."""
        import numpy as np

        said = [row for row, text in enumerate(texts) if text.strip()]
        found = asyncio.run(self._asked([texts[row] for row in said])) if said else []
        if found:
            self.dimensions = len(found[0])
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        vectors[said] = np.array(found, dtype=np.float32).reshape(len(said), self.dimensions)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        return vectors

    async def _asked(self, texts: list[str]) -> list[list[float]]:
        answer = await self._service.post(_PATH, json={"model": self.name, "input": texts, "encoding_format": "float"})
        try:
            rows = sorted(answer["data"], key=lambda one: int(one["index"]))
            found = [[float(value) for value in one["embedding"]] for one in rows]
        except (KeyError, TypeError, ValueError):
            raise self._service.misshapen(_short(answer)) from None
        if len(found) != len(texts) or len({len(row) for row in found}) != 1 or not found[0]:
            raise self._service.misshapen(_short(answer))
        return found


def _short(answer: dict[str, Any]) -> dict[str, Any]:
    """Without the numbers, which say nothing to anybody."""
    rows = answer.get("data")
    return {name: value for name, value in answer.items() if name != "data"} | {
        "data": f"{len(rows):,} rows" if isinstance(rows, list) else None
    }


def embedder_for(settings: ModelSettings) -> AtAService | None:
    """None if no such service is configured."""
    if not settings.embed_url:
        return None
    if not settings.embed_model:
        raise ConfigurationError("TOWPATH_EMBED_URL is set and TOWPATH_EMBED_MODEL is not: name the model to ask")
    asked = service("embed", settings.embed_url, settings.embed_key, settings.model_timeout_seconds)
    return AtAService(replace(asked, model=settings.embed_model), settings.embed_model)

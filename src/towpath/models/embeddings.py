"""Text as vectors, on this machine: near in meaning is near in direction."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from towpath.core.errors import ConfigurationError
from towpath.models.chunks import cut

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

NAME = "wordllama/l2_supercat_256"
DIMENSIONS = 256
_LONGEST = 2000  # characters at a time: a batch takes the memory of its longest text
_BATCH = 32
_loading = threading.Lock()


def embed(texts: Sequence[str]) -> Vectors:
    """One row of length 1 per text, or of zeros where a text says nothing. Blocks; the same text gives the same row."""
    import numpy as np

    parts = [(row, part) for row, text in enumerate(texts) for part in cut(text.strip(), _LONGEST)]
    vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    if parts:
        with _loading:
            model = _model()
        found = model.embed([part for _, part in parts], norm=False, batch_size=_BATCH)
        weights = np.array([[len(part)] for _, part in parts], dtype=np.float32)
        np.add.at(vectors, [row for row, _ in parts], np.nan_to_num(found) * weights)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return vectors


@cache
def _model() -> Any:
    try:
        with _root_log_untouched():
            import wordllama  # type: ignore[import-untyped]  # ships no types
    except ImportError:
        raise ConfigurationError(
            "embeddings on this machine need wordllama, which is not installed: pip install 'towpath[local]'"
        ) from None
    return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)


@contextmanager
def _root_log_untouched() -> Iterator[None]:
    """The library sets up the whole program's log when it is imported; that is not its business."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)

"""A summary without a language model: the sentences that stand for the most of the text and repeat each other least.

A sentence is central if it is near to all the others, which is its likeness to their mean. Sentences are then taken one by
one, each paying for its likeness to those already taken. The same text gives the same summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from towpath.models.chunks import cut, sentences
from towpath.models.embeddings import embed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST, MOST = 3, 10
_ONE_IN = 12  # sentences
_LONGEST = 400  # characters: a text without full stops is cut into such pieces
_FEW_WORDS = 5
_BALANCE = 0.7  # how much being central counts against being new
_DIGITS = 5  # scores are rounded, so that the order does not hang on the last bit


def extract(text: str, count: int | None = None) -> list[str]:
    """The sentences that summarise the text, in its own order. All of them if there are few."""
    every = [piece for sentence in sentences(text) for piece in cut(sentence, _LONGEST)]
    found = list(dict.fromkeys(every))
    wanted = count or min(MOST, max(FEWEST, len(found) // _ONE_IN))
    if len(found) <= wanted:
        return found
    return [found[number] for number in sorted(_chosen(found, wanted))]


def _chosen(found: list[str], wanted: int) -> list[int]:
    import numpy as np

    vectors = embed(found)
    central = _centrality(vectors) * _substance(found)
    taken: list[int] = []
    likeness = np.zeros(len(found), dtype=np.float32)
    left = np.ones(len(found), dtype=bool)
    while len(taken) < wanted:
        scores = np.round(_BALANCE * central - (1 - _BALANCE) * likeness, _DIGITS)
        best = int(np.argmax(np.where(left, scores, -np.inf)))
        taken.append(best)
        left[best] = False
        likeness = np.maximum(likeness, vectors @ vectors[best])
    return taken


def _centrality(vectors: NDArray[np.float32]) -> Any:
    """Likeness to the mean, the most central being 1."""
    import numpy as np

    near = np.clip(vectors @ vectors.mean(axis=0), 0.0, None)
    highest = float(near.max())
    return near / highest if highest > 0 else near


def _substance(found: list[str]) -> Any:
    """A few words say little, however central they are."""
    import numpy as np

    return np.array([min(1.0, len(sentence.split()) / _FEW_WORDS) ** 2 for sentence in found], dtype=np.float32)

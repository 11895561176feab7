"""Two rankings made one.

Reciprocal ranks, the usual way, do not know how good the best of a ranking is: a question in words of its own always
finds some passages that share "how" and "the" with it, and the first of them would be where the best answer belongs. So
scores are added that mean something by themselves: how much of the question a passage has, squared because half of the
words are less than half of an answer, and the cosine of what both mean.
"""

from __future__ import annotations

from collections.abc import Sequence

_WORDS = 0.6
_FULL = 1.5

Scored = Sequence[tuple[int, float]]


def fused(words: Scored, meaning: Scored) -> list[tuple[int, float]]:
    """Passages with their scores, the best first."""
    unseen = min((similarity for _, similarity in meaning), default=0.0)  # nobody who was left out is nearer
    near = dict(meaning)
    scores = {number: near.get(number, unseen) + _WORDS * min(share, _FULL) ** 2 for number, share in words}
    scores |= {number: similarity for number, similarity in meaning if number not in scores}
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))

"""The second at which a sentence of an answer can be heard: of the line, among those of a passage, that says most of it."""

from __future__ import annotations

from collections.abc import Sequence

from towpath.search import content, language_of

Moments = Sequence[tuple[int, float]]
"""Where each line begins in the text of its passage, and its second."""


def second_of(sentence: str, text: str, moments: Moments) -> float | None:
    """None if nobody spoke the passage; its first line if none has more of the sentence than others."""
    if not moments:
        return None
    language = language_of(text)
    said = content(sentence, language)
    ends = [begin for begin, _ in moments[1:]] + [len(text)]
    lines = [text[begin:end] for (begin, _), end in zip(moments, ends, strict=True)]
    shared = [len(said & content(line, language)) for line in lines]
    return moments[shared.index(max(shared))][1]

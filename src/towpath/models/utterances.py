"""What belongs together when somebody speaks: stretches of speech joined over short pauses.

A recogniser understands a sentence better than half of one, and needs much longer for a minute than for its parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MARGIN = 0.15  # seconds kept before and after speech: the softest sounds are at the edges
PAUSE = 0.6  # seconds; a longer one ends an utterance
LONGEST = 10.0  # seconds; an utterance is not made longer by joining


@dataclass(frozen=True, slots=True)
class Span:
    """Seconds."""

    start: float
    end: float


def utterances(
    speech: Iterable[Span], total: float, *, pause: float = PAUSE, longest: float = LONGEST, margin: float = MARGIN
) -> list[Span]:
    """Spans of speech, in order, joined where the pause between them is short; none reaches into the next."""
    joined: list[Span] = []
    for span in speech:
        last = joined[-1] if joined else None
        if last is not None and span.start - last.end <= pause and span.end - last.start <= longest:
            joined[-1] = Span(last.start, max(last.end, span.end))
        elif span.end > span.start:
            joined.append(span)
    return _with_margins(joined, total, margin)


def _with_margins(spans: list[Span], total: float, margin: float) -> list[Span]:
    widened: list[Span] = []
    floor = 0.0
    for number, span in enumerate(spans):
        following = spans[number + 1].start if number + 1 < len(spans) else total
        start = max(floor, span.start - margin)
        end = min(total, max(span.end, min(span.end + margin, following)))
        if end > start:
            widened.append(Span(start, end))
            floor = end
    return widened

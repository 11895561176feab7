"""Lines of the recogniser, cut where the speaker changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from towpath.models.speech import Segment


def told_apart(lines: Iterable[Any], total: float) -> list[Segment]:
    """One segment per turn, within `total` seconds. Speakers are numbered in the order in which they are first heard."""
    numbers: dict[int, int] = {}
    found: list[Segment] = []
    for line in lines:
        for start, end, text, speaker in _turns(line):
            if text and start < total:
                name = None if speaker is None else f"Speaker {numbers.setdefault(speaker, len(numbers) + 1)}"
                found.append(Segment(round(start, 3), round(min(end, total), 3), text, name))
    return found


def _turns(line: Any) -> Iterator[tuple[float, float, str, int | None]]:
    spans = line.speaker_spans or []
    end = line.start_time + line.duration
    if len(spans) < 2:
        yield line.start_time, end, " ".join(line.text.split()), spans[0].speaker_id if spans else None
        return
    encoded = line.text.encode()  # the library counts bytes
    starts = [0, *(span.start_char for span in spans[1:]), len(encoded)]
    for number, span in enumerate(spans):
        text = encoded[starts[number] : starts[number + 1]].decode(errors="ignore")
        stop = end if number + 1 == len(spans) else min(end, span.start_time + span.duration)
        yield span.start_time, stop, " ".join(text.split()), span.speaker_id

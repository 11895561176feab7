"""Voice prints: what a stretch of speech sounds like, as rows of numbers that can be compared over a whole recording.

They are worked out in the window in which the stretch was heard, and travel as text with what was said.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from towpath.models.utterances import Span
from towpath.models.voices import turns
from towpath.models.voices.encoder import FRAMES, Encoder
from towpath.models.voices.traits import PER_SECOND, Frames, frames_of, traits

if TYPE_CHECKING:
    from towpath.models.speech import Samples

_EVERY = 150
"""Frames from one row to the next."""
_LENGTH = 170
"""Frames that a row is of."""


class Voices:
    """Of one window. With an encoder its prints are the encoder's, else they are what can be measured without training."""

    def __init__(self, samples: Samples, encoder: Encoder | None = None) -> None:
        self._samples, self._encoder = samples, encoder

    @property
    def kind(self) -> str:
        """Prints of different kinds cannot be compared."""
        return "traits" if self._encoder is None else self._encoder.name

    def cut(self, spans: Iterable[Span]) -> list[Span]:
        """The spans, divided where the voice changes."""
        return turns.cut(self._frames, spans)

    def prints(self, spans: Iterable[Span]) -> list[str]:
        """One for each span, as text."""
        return [packed(self.kind, self._rows(*self._between(span))) for span in spans]

    def _between(self, span: Span) -> tuple[int, int]:
        first = min(len(self._frames) - 1, max(0, round(span.start * PER_SECOND)))
        return first, max(first + 1, min(len(self._frames), round(span.end * PER_SECOND)))

    def _rows(self, first: int, last: int) -> Any:
        """One for each second and a half."""
        import numpy as np

        starts = list(range(first, max(first + 1, last - _LENGTH + _EVERY // 3), _EVERY))
        if self._encoder is None:
            return np.stack([traits(self._frames, start, min(last, start + _LENGTH)) for start in starts])
        return self._encoder.prints(self._bands, [max(0, min(start, last - FRAMES)) for start in starts])

    @cached_property
    def _frames(self) -> Frames:
        return frames_of(self._samples)

    @cached_property
    def _bands(self) -> Any:
        assert self._encoder is not None
        return self._encoder.prepare(self._samples)


def packed(kind: str, rows: Any) -> str:
    """What they are, how many columns they have, and the numbers in half precision."""
    import numpy as np

    data = np.asarray(rows, dtype="<f2")
    return f"{kind}:{data.shape[1]}:{base64.b64encode(data.tobytes()).decode()}"


def kind_of(text: str) -> str:
    return text.partition(":")[0]


def unpacked(text: str) -> Any:
    import numpy as np

    _, width, data = text.split(":", 2)
    return np.frombuffer(base64.b64decode(data), dtype="<f2").reshape(-1, int(width)).astype(np.float32)

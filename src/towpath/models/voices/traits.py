"""What can be measured of a voice without any training: how high it is, and the shape of its spectrum.

The means over a second or two are much the same for one speaker and another for the next. They are weighed by how much they
vary while one person speaks; what that usually is was measured once, and a recording adds its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from towpath.models.voices.pitch import octaves
from towpath.models.voices.spectra import BANDS, mel_power

if TYPE_CHECKING:
    from towpath.models.speech import Samples

PER_SECOND = 100
_SHAPES = 20
"""How many cosines describe a spectrum. The first is its loudness, which is nobody's own."""
_QUIETEST = 0.3
"""So much of a stretch is left out: pauses and the softest sounds."""
_PER_OCTAVE = 6.0
_FEWEST = 10
# How much each trait varies between stretches of one voice's speech.
_USUAL = (
    0.37, 0.09, 1.75, 1.16, 1.6, 1.05, 0.9, 0.85, 0.72, 0.62, 0.65, 0.53, 0.43, 0.46, 0.34, 0.37, 0.4, 0.29, 0.34, 0.3, 0.3,
    0.62, 0.26, 0.5, 0.35, 0.27, 0.24, 0.21, 0.18, 0.16, 0.16, 0.14, 0.12, 0.11, 0.1, 0.11, 0.08, 0.08, 0.08, 0.08,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Frames:
    """A window, 10 ms by 10 ms."""

    shapes: Any
    """Frames by cosines."""
    loudness: Any
    pitch: Any
    """In octaves; NaN where nothing is voiced."""

    def __len__(self) -> int:
        return len(self.loudness)


def frames_of(samples: Samples) -> Frames:
    import numpy as np

    bands = np.log(mel_power(samples) + np.float32(1e-7))
    loudness = bands.mean(axis=1)
    shapes = (bands - loudness[:, None]) @ _cosines()
    return Frames(shapes, loudness, octaves(samples, len(bands)))


def traits(frames: Frames, first: int, last: int) -> Any:
    """One row for the stretch between two frames."""
    import numpy as np

    loudness = frames.loudness[first:last]
    loud = loudness >= np.quantile(loudness, _QUIETEST)
    pitch = frames.pitch[first:last]
    voiced = pitch[np.isfinite(pitch) & loud]
    if len(voiced) < _FEWEST:
        voiced = pitch[np.isfinite(pitch)]
    height, spread = (np.median(voiced), np.quantile(voiced, 0.8) - np.quantile(voiced, 0.2)) if len(voiced) else (7.0, 0.0)
    shapes = frames.shapes[first:last][loud]
    return np.concatenate([[height * _PER_OCTAVE, spread], shapes.mean(axis=0), shapes.std(axis=0) / 2]).astype(np.float32)


def usual_variances() -> Any:
    import numpy as np

    return np.square(np.array(_USUAL, dtype=np.float32))


@cache
def _cosines() -> Any:
    import numpy as np

    places = np.arange(BANDS) + 0.5
    return (np.cos(np.pi * np.outer(places, np.arange(1, _SHAPES)) / BANDS) * np.sqrt(2 / BANDS)).astype(np.float32)

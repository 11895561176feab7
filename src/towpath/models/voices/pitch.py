"""How high a voice is, frame by frame: the shortest period at which speech repeats itself almost as well as at any other."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from towpath.models.voices.spectra import HOP, RATE

if TYPE_CHECKING:
    from towpath.models.speech import Samples

_WINDOW = 1024  # samples: two periods of the lowest voice
_LOWEST, _HIGHEST = 60, 400  # hertz
_VOICED = 0.5
"""How alike one period and the next are, at least, where somebody uses the voice."""
_ALMOST = 0.9
_FRAMES = 4000
"""At a time: their spectra take memory."""


def octaves(samples: Samples, count: int) -> Any:
    """The base-2 logarithm of the pitch of each of `count` frames; NaN where there is none."""
    import numpy as np

    padded = np.pad(samples, (_WINDOW // 2, _WINDOW + count * HOP))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[::HOP][:count]
    return np.concatenate([_octaves(frames[at : at + _FRAMES]) for at in range(0, count, _FRAMES)])


def _octaves(frames: Any) -> Any:
    import numpy as np

    alike = _autocorrelation(frames * np.hanning(_WINDOW).astype(np.float32))
    alike = alike / np.maximum(alike[:, :1], 1e-9) / _of_the_window()
    shortest, longest = RATE // _HIGHEST, RATE // _LOWEST
    found = alike[:, shortest:longest]
    best = found.max(axis=1)
    is_peak = np.zeros(found.shape, dtype=bool)
    is_peak[:, 1:-1] = (found[:, 1:-1] >= found[:, :-2]) & (found[:, 1:-1] >= found[:, 2:])
    good = is_peak & (found >= _ALMOST * best[:, None])
    lag = np.where(good.any(axis=1), good.argmax(axis=1), found.argmax(axis=1)) + shortest
    return np.where(best > _VOICED, np.log2(RATE / lag), np.nan)


def _autocorrelation(frames: Any) -> Any:
    import numpy as np

    spectra = np.fft.rfft(frames, 2 * _WINDOW, axis=-1)
    return np.fft.irfft(np.square(np.abs(spectra)), axis=-1)[..., : RATE // _LOWEST + 1]


@cache
def _of_the_window() -> Any:
    """What the window takes away from longer lags."""
    import numpy as np

    shape = _autocorrelation(np.hanning(_WINDOW))
    return shape / shape[0]

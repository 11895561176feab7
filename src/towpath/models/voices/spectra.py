"""Mel spectra: how loud speech is in bands that are as wide as an ear's."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from towpath.models.speech import Samples

RATE = 16_000
HOP = 160  # samples: 10 ms
WINDOW = 400  # samples: 25 ms
BANDS = 40
_LINEAR_TO = 1000.0  # hertz; above it bands grow by a constant factor
_PER_BAND = 200.0 / 3
_FACTOR = 6.4 ** (1 / 27.0)


def mel_power(samples: Samples) -> Any:
    """Frames by bands: the power in each band, the frame being centred on its moment."""
    import numpy as np

    padded = np.pad(samples, WINDOW // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP]
    power = np.abs(np.fft.rfft(frames * _hann(), axis=1)).astype(np.float32) ** 2
    return power @ _filters().T


@cache
def _hann() -> Any:
    import numpy as np

    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)


@cache
def _filters() -> Any:
    """Triangles over the bins of a spectrum, each of the same area."""
    import numpy as np

    bins = np.linspace(0, RATE / 2, WINDOW // 2 + 1)
    edges = _hertz(np.linspace(0, _mel(RATE / 2), BANDS + 2))
    rising = (bins[None, :] - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - bins[None, :]) / np.diff(edges)[1:, None]
    triangles = np.maximum(0, np.minimum(rising, falling))
    return (triangles * (2 / (edges[2:] - edges[:-2]))[:, None]).astype(np.float32)


def _mel(hertz: float) -> float:
    import math

    if hertz < _LINEAR_TO:
        return hertz / _PER_BAND
    return _LINEAR_TO / _PER_BAND + math.log(hertz / _LINEAR_TO) / math.log(_FACTOR)


def _hertz(mels: Any) -> Any:
    import numpy as np

    knee = _LINEAR_TO / _PER_BAND
    return np.where(mels < knee, mels * _PER_BAND, _LINEAR_TO * _FACTOR ** (mels - knee))

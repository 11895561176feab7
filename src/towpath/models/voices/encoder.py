"""The voice encoder: a trained network that turns 1.6 seconds of speech into a direction that is the speaker's own.

Three layers of LSTM and a projection, computed by numpy. The weights are those of Resemblyzer (Apache-2.0), which
`towpath models pull speakers` fetches.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from towpath.core.errors import ConfigurationError
from towpath.models.settings import ModelSettings, models_dir
from towpath.models.voices.spectra import mel_power
from towpath.models.voices.threads import one_thread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from towpath.models.speech import Samples

    Prints = NDArray[np.float32]

FRAMES = 160  # 10 ms each
_LAYERS = 3
_SIZE = 256
_LOUDNESS = 10 ** (-30 / 20)
_BATCH = 32
_STEEP = 60.0
"""Further out a gate is open or closed, and its exponential would be no number."""


class Encoder:
    """Its weights are read once; threads may share it."""

    name = "encoder"

    def __init__(self, path: Path) -> None:
        import numpy as np

        try:
            with np.load(path, allow_pickle=False) as weights:
                self._layers = [_Layer(weights, number) for number in range(_LAYERS)]
                self._linear, self._bias = weights["linear.weight"].T.copy(), weights["linear.bias"]
        except (OSError, ValueError, KeyError) as error:
            raise ConfigurationError(
                f"the voice encoder in {path} cannot be read ({error}); "
                "pull it again with towpath models pull --force speakers"
            ) from error

    def prepare(self, samples: Samples) -> Any:
        """What prints of its parts are made of: frames of a window, as loud as what the network was trained with."""
        import numpy as np

        loudness = float(np.sqrt(np.mean(np.square(samples)))) or 1.0
        return mel_power(samples * max(1.0, _LOUDNESS / loudness))

    def prints(self, frames: Any, starts: list[int]) -> Prints:
        """A row of length 1 for each of the stretches of FRAMES that begin there."""
        import numpy as np

        padded = np.pad(frames, ((0, FRAMES), (0, 0)))
        pieces = np.stack([padded[start : start + FRAMES] for start in starts])
        with one_thread():
            rows = [self._run(pieces[at : at + _BATCH]) for at in range(0, len(pieces), _BATCH)]
        return np.concatenate(rows)

    def _run(self, pieces: Any) -> Any:
        import numpy as np

        flow = np.ascontiguousarray(pieces.transpose(1, 0, 2))  # time first
        for layer in self._layers:
            flow = layer.run(flow)
        found = np.maximum(flow[-1] @ self._linear + self._bias, 0)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-6)


_encoders: dict[Path, Encoder] = {}
_loading = threading.Lock()


def encoder_for(settings: ModelSettings) -> Encoder | None:
    """Loaded once per process; None if nobody has pulled it."""
    path = weights_path(settings)
    with _loading:
        if path not in _encoders and path.is_file():
            _encoders[path] = Encoder(path)
        return _encoders.get(path)


def weights_path(settings: ModelSettings) -> Path:
    return models_dir(settings) / "speakers" / "encoder.npz"


class _Layer:
    """One layer; gates come in the order input, forget, cell, output."""

    def __init__(self, weights: Any, number: int) -> None:
        import numpy as np

        self._into = np.ascontiguousarray(weights[f"lstm.weight_ih_l{number}"].T)
        self._over = np.ascontiguousarray(weights[f"lstm.weight_hh_l{number}"].T)
        self._bias = weights[f"lstm.bias_ih_l{number}"] + weights[f"lstm.bias_hh_l{number}"]

    def run(self, flow: Any) -> Any:
        """Of time by batch by inputs, time by batch by outputs."""
        import numpy as np

        steps, batch, width = flow.shape
        given = (flow.reshape(steps * batch, width) @ self._into + self._bias).reshape(steps, batch, -1)
        out = np.empty((steps, batch, _SIZE), dtype=np.float32)
        cell = np.zeros((batch, _SIZE), dtype=np.float32)
        state = np.zeros((batch, _SIZE), dtype=np.float32)
        for step in range(steps):
            gates = given[step] + state @ self._over
            squashed = 1 / (1 + np.exp(-np.clip(gates, -_STEEP, _STEEP)))
            cell = squashed[:, _SIZE : 2 * _SIZE] * cell + squashed[:, :_SIZE] * np.tanh(gates[:, 2 * _SIZE : 3 * _SIZE])
            state = squashed[:, 3 * _SIZE :] * np.tanh(cell)
            out[step] = state
        return out

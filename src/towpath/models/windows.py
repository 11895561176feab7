"""Cuts decoded audio into windows at silences.

Windows are the unit of work and of resuming: each is short enough to be heard again after a crash, and ends where nobody
speaks, so that no word is cut in two. They follow each other without gap or overlap from the first sample to the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from towpath.core.errors import ConfigurationError, SchemaInvalid
from towpath.models import pcm

if TYPE_CHECKING:
    from towpath.models.speech import Samples

_FRAME = 480  # samples: 30 ms, the longest frame the detector takes
_FRAME_BYTES = _FRAME * pcm.BYTES_PER_SAMPLE
_FRAMES_READ = 2000
_PER_SECOND = pcm.SAMPLE_RATE / _FRAME
_STRICTNESS = 2  # of 0–3: how readily the detector takes a sound for silence


@dataclass(frozen=True, slots=True)
class Window:
    """Seconds from the beginning of the recording."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


def split(pcm_path: Path, target: float = 30.0, longest: float = 35.0) -> list[Window]:
    """Windows of about `target` seconds, none above `longest`, cut at the silence that suits best.

    Reads 16 kHz mono PCM (or WAV) piece by piece: hours of audio take no more memory than a minute. Where nobody pauses
    the cut falls on the quietest moment. No samples, no windows.
    """
    if not 1.0 <= target <= longest:
        raise SchemaInvalid(f"windows need 1 ≤ target ≤ longest seconds, got target={target:g} and longest={longest:g}")
    cutter = _Cutter(int(target * _PER_SECOND), int(longest * _PER_SECOND))
    total = 0
    with pcm.opened(Path(pcm_path)) as source:
        for frame, size in _frames(source):
            cutter.take(frame)
            total += size
    return _windows(cutter.finish(), total)


def read(pcm_path: Path, window: Window) -> Samples:
    """The samples of one window."""
    return pcm.read(Path(pcm_path), window.start, window.end)


@dataclass(frozen=True, slots=True)
class _Frame:
    """One frame."""

    speech: bool
    loudness: float


def _frames(source: BinaryIO) -> Iterator[tuple[_Frame, int]]:
    """Each frame and how many samples of it are real; the last one is filled up with silence."""
    import numpy as np

    detector = _detector()
    while data := source.read(_FRAMES_READ * _FRAME_BYTES):
        data = data[: len(data) - len(data) % pcm.BYTES_PER_SAMPLE]
        padded = data + bytes(-len(data) % _FRAME_BYTES)
        loudness = np.abs(np.frombuffer(padded, "<i2").astype(np.int32)).reshape(-1, _FRAME).mean(axis=1)
        for number, level in enumerate(loudness.tolist()):
            at = number * _FRAME_BYTES
            real = min(_FRAME_BYTES, len(data) - at) // pcm.BYTES_PER_SAMPLE
            yield _Frame(detector.is_speech(padded[at : at + _FRAME_BYTES], pcm.SAMPLE_RATE), level), real


def _detector() -> Any:
    try:
        import webrtcvad  # type: ignore[import-untyped]  # ships no types
    except ImportError:
        raise ConfigurationError(
            "splitting recordings at silence needs webrtcvad-wheels, which is not installed: pip install 'towpath[local]'"
        ) from None
    return webrtcvad.Vad(_STRICTNESS)


@dataclass(slots=True)
class _Cutter:
    """Collects the frames of one window at a time and decides where it ends. Lengths are in frames."""

    target: int
    longest: int
    cuts: list[int] = field(default_factory=list)
    _begin: int = 0
    _frames: list[_Frame] = field(default_factory=list)

    def take(self, frame: _Frame) -> None:
        self._frames.append(frame)
        if len(self._frames) > self.longest:
            self._cut(self._best())

    def finish(self) -> list[int]:
        """Where windows end, the last one included. A rest that fits is left whole."""
        if self._frames:
            self._cut(len(self._frames))
        return self.cuts

    def _cut(self, length: int) -> None:
        self._begin += length
        self.cuts.append(self._begin)
        del self._frames[:length]

    def _best(self) -> int:
        """The middle of the silence that is long and near the target, else the quietest frame near it."""
        silences = list(self._silences(first=self.target // 2))
        if silences:
            return max(silences, key=self._worth)[0]
        first = max(1, self.longest - 2 * max(1, self.longest - self.target))
        return min(range(first, self.longest + 1), key=lambda at: (self._frames[at - 1].loudness, at))

    def _silences(self, first: int) -> Iterator[tuple[int, int]]:
        """(middle, length) of each run without speech whose middle lies beyond `first`."""
        run = 0
        for number, frame in enumerate([*self._frames[: self.longest], _Frame(True, 0.0)]):
            if not frame.speech:
                run += 1
                continue
            middle = number - (run + 1) // 2
            if run and middle >= first:
                yield min(max(1, middle), self.longest), run
            run = 0

    def _worth(self, silence: tuple[int, int]) -> float:
        """Half a second of silence is as good as more; each tenth away from the target must be paid for by silence."""
        middle, length = silence
        return min(length / (_PER_SECOND / 2), 1.0) - abs(middle - self.target) / self.target


def _windows(cuts: list[int], total: int) -> list[Window]:
    ends = [min(cut * _FRAME, total) / pcm.SAMPLE_RATE for cut in cuts]
    return [Window(start, end) for start, end in zip([0.0, *ends], ends, strict=False) if end > start]

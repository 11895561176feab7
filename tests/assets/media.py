"""Audio and video for tests, made on the spot: tones, silence, and files that are not what they seem."""

import io
import shutil
import tempfile
import wave
from functools import cache
from pathlib import Path

import av
import numpy as np

RATE = 16_000
_CODECS = {  # kind: container, codec, rate
    "mp3": ("mp3", "libmp3lame", RATE), "m4a": ("ipod", "aac", RATE), "mp4": ("mp4", "aac", RATE),
    "ogg": ("ogg", "flac", RATE), "opus": ("ogg", "libopus", 48_000), "webm": ("webm", "libopus", 48_000),
    "flac": ("flac", "flac", RATE), "wav": ("wav", "pcm_s16le", RATE), "amr": ("amr", "libopencore_amrnb", 8_000),
    "mkv": ("matroska", "libopus", 48_000), "mov": ("mov", "aac", RATE), "aac": ("adts", "aac", RATE),
}  # fmt: skip
KINDS = tuple(_CODECS)


def tone(seconds: float) -> np.ndarray:
    return (np.sin(np.arange(round(seconds * RATE)) * 2 * np.pi * 440 / RATE) * 8000).astype(np.int16)


@cache
def sound(kind: str, seconds: float = 1.0) -> bytes:
    """A tone as a file of this kind."""
    return encoded(tone(seconds), kind)


def encoded(samples: np.ndarray, kind: str, **options: str) -> bytes:
    container_format, codec, rate = _CODECS[kind]
    target = Path(tempfile.mkdtemp()) / "sound"  # some containers are read again to be finished, which takes a real file
    with av.open(str(target), "w", format=container_format, options=options) as container:
        stream = container.add_stream(codec, rate=rate, layout="mono")
        resampler = av.AudioResampler(
            format=stream.format.name, layout="mono", rate=rate, frame_size=stream.frame_size or 1024
        )
        for start in range(0, len(samples), RATE):
            piece = samples[start : start + RATE]
            frame = av.AudioFrame.from_ndarray(piece.reshape(1, -1), format="s16", layout="mono")
            frame.rate, frame.pts = RATE, start
            for ready in resampler.resample(frame):
                container.mux(stream.encode(ready))
        for ready in resampler.resample(None):
            container.mux(stream.encode(ready))
        container.mux(stream.encode(None))
    data = target.read_bytes()
    shutil.rmtree(target.parent)
    return data


def empty_wav() -> bytes:
    """A header, and no sound after it."""
    target = io.BytesIO()
    with wave.open(target, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(RATE)
    return target.getvalue()


def film() -> bytes:
    """Moving pictures without sound."""
    target = io.BytesIO()
    with av.open(target, "w", format="mp4") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 32, 32, "yuv420p"
        for number in range(5):
            frame = av.VideoFrame.from_ndarray(np.full((32, 32, 3), number * 40, dtype=np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return target.getvalue()

"""Audio for tests, made on the spot: real speech that comes with the speech engine, silence, and every format."""

from __future__ import annotations

import io
from functools import cache
from importlib.resources import files

import av
import numpy as np

RATE = 16_000
_CODECS = {  # ending: container, codec, rate
    "mp3": ("mp3", "libmp3lame", RATE), "m4a": ("ipod", "aac", RATE), "mp4": ("mp4", "aac", RATE),
    "ogg": ("ogg", "libopus", 48_000), "opus": ("ogg", "libopus", 48_000), "webm": ("webm", "libopus", 48_000),
    "flac": ("flac", "flac", RATE), "wav": ("wav", "pcm_s16le", RATE), "amr": ("amr", "libopencore_amrnb", 8_000),
}  # fmt: skip
FORMATS = tuple(_CODECS)


@cache
def speech(name: str) -> np.ndarray:
    """Samples of a recording that comes with the speech engine: `beckett`, `two_cities` or `clone-test`."""
    data = (files("moonshine_voice") / "assets" / f"{name}.wav").read_bytes()
    return _resampled(data)


def _resampled(data: bytes) -> np.ndarray:
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    with av.open(io.BytesIO(data)) as container:
        frames = [piece for frame in container.decode(audio=0) for piece in resampler.resample(frame)]
    frames += resampler.resample(None)
    return np.concatenate([frame.to_ndarray()[0] for frame in frames])


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE), dtype=np.int16)


def of_floats(samples: np.ndarray) -> np.ndarray:
    return (np.clip(samples, -1, 1) * 32767).astype(np.int16)


def encoded(samples: np.ndarray, ending: str = "wav") -> bytes:
    """The samples as a file of this format."""
    container_format, codec, rate = _CODECS[ending]
    target = io.BytesIO()
    with av.open(target, "w", format=container_format) as container:
        stream = container.add_stream(codec, rate=rate, layout="mono")
        resampler = av.AudioResampler(format=stream.format.name, layout="mono", rate=rate)
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
        frame.rate = RATE
        fifo = av.AudioFifo()
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            piece.pts = None
            fifo.write(piece)
        size, done = stream.frame_size or 1024, 0
        while piece := fifo.read(size, partial=True):
            piece.pts, done = done, done + piece.samples
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))
    return target.getvalue()


def filmed(samples: np.ndarray) -> bytes:
    """The samples under a grey picture of 160 × 90, as a webm file."""
    sound, target = encoded(samples, "webm"), io.BytesIO()
    with av.open(io.BytesIO(sound)) as heard, av.open(target, "w", format="webm") as container:
        picture = container.add_stream("libvpx", rate=5)
        picture.width, picture.height, picture.pix_fmt = 160, 90, "yuv420p"
        voice = container.add_stream_from_template(heard.streams.audio[0])
        grey = np.full((90, 160, 3), 128, dtype=np.uint8)
        for _ in range(len(samples) * 5 // RATE):
            container.mux(picture.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
        container.mux(picture.encode(None))
        for packet in heard.demux(heard.streams.audio[0]):
            if packet.dts is not None:
                packet.stream = voice
                container.mux(packet)
    return target.getvalue()

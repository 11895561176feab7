"""Speech to transcribe, and the speech library by itself: what Towpath's transcription is measured against.

"Same settings" is the model, the windows and the one thread that Towpath gives it, called as its authors show it. Within a
window the library cuts speech as it likes; Towpath joins it to longer utterances, and what that costs counts as Towpath's.
"As it comes" is the whole file at once with all cores.
"""

import os
import time
from importlib.resources import files
from pathlib import Path
from typing import Literal

import av
import numpy as np

RATE = 16_000
_BLOCK = RATE
Samples = np.ndarray
Way = Literal["same settings", "as it comes"]


def speech(seconds: float) -> Samples:
    """The sample speech of the engine's own package, over and over."""
    data = files("moonshine_voice") / "assets" / "two_cities.wav"
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    with data.open("rb") as source, av.open(source) as container:
        frames = [piece.to_ndarray()[0] for frame in container.decode(audio=0) for piece in resampler.resample(frame)]
    return np.resize(np.concatenate(frames), round(seconds * RATE))


def written(path: Path, samples: Samples) -> Path:
    """As a file in the format that its name ends in: wav, or mp3 to be small."""
    codec = {".wav": "pcm_s16le", ".mp3": "libmp3lame"}[path.suffix]
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=RATE, layout="mono")
        resampler = av.AudioResampler(format=stream.format.name, layout="mono", rate=RATE, frame_size=stream.frame_size)
        for start in range(0, len(samples), _BLOCK):
            frame = av.AudioFrame.from_ndarray(samples[start : start + _BLOCK].reshape(1, -1), format="s16", layout="mono")
            frame.rate, frame.pts = RATE, start
            for piece in resampler.resample(frame):
                container.mux(stream.encode(piece))
        for piece in resampler.resample(None):
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))
    return path


async def library(path: str, way: Way) -> tuple[float, float]:
    """Seconds the library takes for a file, and seconds of computing; the model is loaded and the file decoded before."""
    if way == "same settings":
        os.putenv("MOONSHINE_ORT_SINGLE_THREAD", "1")
    from moonshine_voice import Transcriber
    from moonshine_voice.moonshine_api import ModelArch
    from moonshine_voice.utils import load_wav_file

    from towpath.models import windows
    from towpath.models.moonshine_files import BUNDLED, package

    samples, rate = load_wav_file(path)
    assert rate == RATE
    cut = windows.split(Path(path)) if way == "same settings" else [windows.Window(0.0, len(samples) / RATE)]
    pieces = [samples[round(window.start * RATE) : round(window.end * RATE)] for window in cut]
    transcriber = Transcriber(str(package() / "assets" / BUNDLED), ModelArch.TINY, options={"return_audio_data": "false"})
    transcriber.transcribe_without_streaming(samples[: 5 * RATE])
    began, computed = time.perf_counter(), time.process_time()
    for piece in pieces:
        transcriber.transcribe_without_streaming(piece)
    return time.perf_counter() - began, time.process_time() - computed

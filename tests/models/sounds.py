"""Real speech for tests: what the speech library's wheel carries, and what espeak-ng says."""

import shutil
import subprocess
import wave
from pathlib import Path

import av
import numpy as np

from tests.services.missing import lacking
from towpath.config import Settings
from towpath.models.moonshine_files import package

BUNDLED = Settings(models_dir=str(package() / "no-pulled-models"))
"""The model of the wheel, whatever else this machine has."""

TWO_CITIES = (
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, "
    "it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of "
    "Darkness, it was the spring of hope, it was the winter of despair, we had everything before us, we had nothing "
    "before us, we were all going direct to Heaven, we were all going direct the other way. In short, the period was "
    "so far like the present period, that some of its noisiest authorities insisted on its being received, for good "
    "or for evil, in the superlative degree of comparison only."
)
BECKETT = "Ever tried. Ever failed. No matter. Try again. Fail again. Fail better."


def sample(name: str) -> np.ndarray:
    """A sample of the wheel as 16 kHz mono."""
    return decode(package() / "assets" / name)


def spoken(text: str, folder: Path, *, voice: str = "en-us", speed: int = 140) -> np.ndarray:
    return decode(speak(text, folder / "spoken.wav", voice=voice, speed=speed))


def speak(text: str, path: Path, *, voice: str = "en-us", speed: int = 140) -> Path:
    """What espeak-ng makes of a text. Where it is missing the test is skipped, in CI it fails."""
    program = shutil.which("espeak-ng")
    if program is None:
        lacking("espeak-ng", "apt-get install espeak-ng")
    subprocess.run([program, "-v", voice, "-s", str(speed), "-w", str(path), text], check=True, timeout=60)
    return path


def decode(path: Path) -> np.ndarray:
    resampler = av.AudioResampler("flt", layout="mono", rate=16_000)
    with av.open(str(path)) as container:
        frames = [piece for frame in container.decode(audio=0) for piece in resampler.resample(frame)]
    frames += resampler.resample(None)
    return np.concatenate([frame.to_ndarray()[0] for frame in frames])


def write_pcm(path: Path, samples: np.ndarray) -> Path:
    path.write_bytes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return path


def write_wav(path: Path, samples: np.ndarray, rate: int = 16_000) -> Path:
    with wave.open(str(path), "wb") as target:
        target.setnchannels(1)
        target.setsampwidth(2)
        target.setframerate(rate)
        target.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return path

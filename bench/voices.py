"""How well speakers are told apart over a whole recording: conversations of synthetic voices, and the share of speech
that is given to the wrong one.

`python -m bench.voices [MINUTES [CONVERSATIONS]]` prints a line for each way of comparing voices. Who speaks when is known,
because the conversations are put together here: six to eight voices of espeak-ng, drawn at random with their pitch.
"""

import io
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np

from towpath.config import Settings
from towpath.models import windows
from towpath.models.moonshine_files import package
from towpath.models.speech import SAMPLE_RATE, engine_for
from towpath.models.utterances import Span
from towpath.models.voices.encoder import Encoder, encoder_for
from towpath.models.voices.linking import Stretch, linked
from towpath.models.voices.prints import Voices

_ACCENTS = ("en", "en-us", "en-gb-scotland", "en-gb-x-rp", "en-us-nyc", "en-029", "en-gb-x-gbcwmd")
_VARIANTS = (
    "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "f1", "f2", "f3", "f4", "f5", "klatt", "klatt2", "klatt3", "belinda",
    "linda", "max", "steph", "quincy", "edward", "adam", "Andrea", "Lee", "john", "paul", "rob",
)  # fmt: skip
_LOUDNESS = 0.08
_FRAMES = 100  # a second


@dataclass(frozen=True, slots=True)
class Turn:
    start: float
    end: float
    who: int


@dataclass(frozen=True, slots=True)
class Measured:
    speakers: int
    found: int
    error: float
    """The share of speech that is given to somebody else than the one who says it."""
    missed: float
    plain_seconds: float
    """Of computing."""
    told_seconds: float


def say(text: str, voice: str, *, pitch: int = 50, pace: int = 160) -> np.ndarray:
    """What espeak-ng makes of it, as engines take it, without the silence around it."""
    command = ["espeak-ng", "-v", voice, "-p", str(pitch), "-s", str(pace), "--stdout", text]
    spoken = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    resampler = av.AudioResampler("flt", layout="mono", rate=SAMPLE_RATE)
    with av.open(io.BytesIO(spoken)) as container:
        frames = [piece for frame in container.decode(audio=0) for piece in resampler.resample(frame)]
    frames += resampler.resample(None)
    samples = np.concatenate([frame.to_ndarray()[0] for frame in frames])
    loud = np.flatnonzero(np.abs(samples) > 0.01)
    return samples[loud[0] : loud[-1] + 1] / 2


def conversation(seconds: float, seed: int) -> tuple[np.ndarray, list[Turn]]:
    """People who take turns of one to three sentences, with short pauses."""
    draw = random.Random(seed)
    texts = (Path(__file__).parent / "texts" / "en.txt").read_text(encoding="utf-8").splitlines()
    variants = draw.sample(_VARIANTS, draw.choice((6, 6, 7, 8)))
    voices = [(f"{draw.choice(_ACCENTS)}+{variant}", draw.randint(20, 80)) for variant in variants]
    parts, turns, length, last = [], [], 0, -1
    while length < seconds * SAMPLE_RATE:
        last = who = draw.choice([number for number in range(len(voices)) if number != last])
        text = " ".join(draw.sample(texts, draw.choice((1, 1, 2, 3))))
        samples = say(text, voices[who][0], pitch=voices[who][1], pace=draw.randint(145, 175))
        samples = samples / np.sqrt(np.mean(samples**2)) * _LOUDNESS * draw.uniform(0.7, 1.2)
        pause = np.zeros(round(draw.uniform(0.15, 0.9) * SAMPLE_RATE))
        turns.append(Turn(length / SAMPLE_RATE, (length + len(samples)) / SAMPLE_RATE, who))
        parts += [samples, pause]
        length += len(samples) + len(pause)
    noise = np.random.default_rng(seed).normal(0, 0.0008, length)
    return (np.concatenate(parts) + noise).astype(np.float32), turns


def measured(samples: np.ndarray, turns: list[Turn], encoder: Encoder | None) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "conversation.pcm"
        path.write_bytes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
        began = time.process_time()
        for _ in _heard(path, None, told=False):
            pass
        plain = time.process_time() - began
        began = time.process_time()
        lines = list(_heard(path, encoder, told=True))
        people = linked([Stretch(end - start, print_) for start, end, print_ in lines]).people
        told = time.process_time() - began
    error, missed = _error(turns, [(start, end, who) for (start, end, _), who in zip(lines, people, strict=True)])
    speakers = len({turn.who for turn in turns})
    return Measured(speakers, len(set(people) - {None}), error, missed, plain, told)


def _heard(path: Path, encoder: Encoder | None, *, told: bool) -> Iterator[tuple[float, float, str | None]]:
    engine = engine_for(Settings(models_dir=str(package() / "no-pulled-models")))
    for window in windows.split(path):
        samples = windows.read(path, window)
        voices = Voices(samples, encoder) if told else None
        found = engine.transcribe(samples, voices=voices)
        prints = voices.prints([Span(one.start, one.end) for one in found]) if voices else [None] * len(found)
        for one, print_ in zip(found, prints, strict=True):
            yield one.start + window.start, one.end + window.start, print_


def _error(turns: list[Turn], lines: list[tuple[float, float, int | None]]) -> tuple[float, float]:
    count = round(max(turn.end for turn in turns) * _FRAMES) + 1
    said, given = np.full(count, -1), np.full(count, -1)
    for turn in turns:
        said[round(turn.start * _FRAMES) : round(turn.end * _FRAMES)] = turn.who
    for start, end, who in lines:
        given[round(start * _FRAMES) : round(end * _FRAMES)] = -1 if who is None else who - 1
    speech, both = said >= 0, (said >= 0) & (given >= 0)
    common = np.zeros((given.max() + 1, said.max() + 1))
    np.add.at(common, (given[both], said[both]), 1)
    return float((both.sum() - _best(common)) / speech.sum()), float((speech & ~both).sum() / speech.sum())


def _best(common: np.ndarray) -> float:
    """The most frames that agree when everybody who was found is at most one who speaks, and the other way round."""
    few, many = common.shape if common.shape[0] <= common.shape[1] else common.T.shape
    table = common if common.shape == (few, many) else common.T
    best = {0: 0.0}
    for column in range(many):
        following = dict(best)
        for taken, value in best.items():
            for row in range(few):
                if not taken >> row & 1:
                    wider = taken | 1 << row
                    following[wider] = max(following.get(wider, 0.0), value + table[row, column])
        best = following
    return max(best.values())


def main(minutes: float, count: int) -> None:
    ways = {"without training": None}
    if (encoder := encoder_for(Settings())) is not None:
        ways["encoder"] = encoder
    for seed in range(100, 100 + count):
        samples, turns = conversation(minutes * 60, seed)
        for way, one in ways.items():
            got = measured(samples, turns, one)
            print(
                f"| {way} | {minutes:g} min | {got.speakers} | {got.found} | {got.error:.1%} | {got.missed:.1%} "
                f"| {got.told_seconds / got.plain_seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0, int(sys.argv[2]) if len(sys.argv) > 2 else 3)

"""How often another language than the model's is noticed, and how often its own is taken for another.

`python -m bench.languages [TEXTS [LANGUAGE…]]` has espeak-ng say TEXTS texts in each of six languages and ten times as many
in English, with voices, pitches and paces drawn at random, lets the bundled English model hear them, and counts. What is
drawn for a text does not depend on the others, so that each language can be measured by itself.
"""

import random
import sys
from collections import Counter
from pathlib import Path

from bench.voices import say
from towpath.config import Settings
from towpath.models.moonshine_files import package
from towpath.models.speech import SAMPLE_RATE, Segment, engine_for
from towpath.models.steadiness import remark, steadiness

LANGUAGES = {
    "en": ("en-us", "en", "en-gb-scotland", "en-us-nyc", "en-029"), "de": ("de",), "fr": ("fr-fr", "fr-be"),
    "es": ("es", "es-419"), "it": ("it",), "nl": ("nl",), "pl": ("pl",),
}  # fmt: skip
_VARIANTS = ("", "+m1", "+m3", "+m5", "+m7", "+f1", "+f2", "+f4", "+f5")
_WINDOW = 30
_ENGLISH_TIMES = 10
TEXTS = Path(__file__).parent / "texts"


def sentences(language: str) -> list[str]:
    return (TEXTS / f"{language}.txt").read_text(encoding="utf-8").splitlines()


def flagged(language: str, draw: random.Random) -> bool | None:
    """Of one text; None if too little was heard to tell."""
    engine = engine_for(Settings(models_dir=str(package() / "no-pulled-models")))
    text = " ".join(draw.sample(sentences(language), draw.choice((2, 3, 4))))
    voice = draw.choice(LANGUAGES[language]) + draw.choice(_VARIANTS)
    samples = say(text, voice, pitch=draw.randint(30, 70), pace=draw.randint(130, 175))[: _WINDOW * SAMPLE_RATE]
    heard: list[Segment] = engine.transcribe(samples)
    found = steadiness(engine, samples, heard)
    return None if found is None else remark("en", [found]) is not None


def main(count: int, *languages: str) -> None:
    for language in languages or LANGUAGES:
        texts = range(count * _ENGLISH_TIMES if language == "en" else count)
        told = Counter(flagged(language, random.Random(f"{language} {number}")) for number in texts)
        print(f"| {language} | {told.total()} | {told[True]} | {told[None]} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, *sys.argv[2:])

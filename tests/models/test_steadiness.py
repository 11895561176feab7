"""Whether a model was given the language it knows."""

from pathlib import Path

import pytest

from tests.models.sounds import BUNDLED, spoken
from towpath.models.speech import Segment, engine_for
from towpath.models.steadiness import language_of, remark, steadiness

ENGLISH = (
    "The meeting starts at nine and everybody should bring the numbers from last week. I have never seen so many birds."
)
GERMAN = (
    "Die Sitzung beginnt um neun Uhr und alle sollen die Zahlen der letzten Woche mitbringen. Niemand weiß, wer das war."
)


@pytest.mark.parametrize(("text", "voice", "noticed"), [(ENGLISH, "en-us", False), (GERMAN, "de", True)])
def test_a_language_that_the_model_does_not_know_is_noticed(text: str, voice: str, noticed: bool, tmp_path: Path) -> None:
    engine = engine_for(BUNDLED)
    samples = spoken(text, tmp_path, voice=voice)
    found = steadiness(engine, samples, engine.transcribe(samples))
    assert language_of(engine) == "en"
    assert found is not None
    said = remark("en", [found])
    assert (said is not None) is noticed
    if said:
        assert "this does not read like English" in said
        assert "process it again with a model" in said
        assert "Settings → Models" in said


def test_a_few_words_are_not_judged() -> None:
    engine = engine_for(BUNDLED)
    samples = spoken_nothing()
    assert steadiness(engine, samples, [Segment(0.0, 0.5, "good morning")]) is None
    assert remark("en", []) is None


def spoken_nothing():  # type: ignore[no-untyped-def]  # samples
    import numpy as np

    return np.zeros(16_000, dtype=np.float32)

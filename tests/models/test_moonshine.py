"""The default speech engine on real speech: how well it hears, and what it makes of what is no speech."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.models.conftest import Make
from tests.models.sounds import BECKETT, BUNDLED, TWO_CITIES, sample, spoken, write_pcm
from tests.models.words import word_error_rate
from towpath.core.errors import ConfigurationError, SchemaInvalid
from towpath.models import windows
from towpath.models.moonshine import Moonshine, Recognisers
from towpath.models.moonshine_library import lines_of
from towpath.models.speech import Segment, check_language, engine_for, listen

MEETING = (
    "Good morning everyone and welcome to the weekly project meeting. Today we will talk about the new schedule, the budget "
    "for next year, and the plan for the summer event. Please send your questions to the office before Friday. The kitchen "
    "on the second floor is closed until the end of the month."
)


@pytest.fixture(scope="module")
def engine() -> Moonshine:
    made = engine_for(BUNDLED)
    assert isinstance(made, Moonshine)
    return made


def text_of(segments: list[Segment]) -> str:
    return " ".join(segment.text for segment in segments)


def hear_in_windows(engine: Moonshine, path: Path, target: float, longest: float) -> list[Segment]:
    found = []
    for window in windows.split(path, target, longest):
        found += [segment.moved(window.start) for segment in engine.transcribe(windows.read(path, window), language="en")]
    return found


def test_read_speech_heard_in_several_windows_has_less_than_a_tenth_of_its_words_wrong(
    engine: Moonshine, tmp_path: Path
) -> None:
    path = write_pcm(tmp_path / "two_cities.pcm", sample("two_cities.wav"))
    assert len(windows.split(path, 15, 20)) >= 3
    segments = hear_in_windows(engine, path, 15, 20)
    assert word_error_rate(TWO_CITIES, text_of(segments)) < 0.10
    starts = [segment.start for segment in segments]
    assert starts == sorted(starts)
    assert all(segment.start < segment.end <= 44.4 for segment in segments)


def test_short_utterances_are_heard_together_and_right(engine: Moonshine) -> None:
    assert word_error_rate(BECKETT, text_of(engine.transcribe(sample("beckett.wav")))) < 0.10


def test_a_synthetic_voice_has_less_than_a_fifth_of_its_words_wrong(engine: Moonshine, tmp_path: Path) -> None:
    segments = engine.transcribe(spoken(MEETING, tmp_path))
    assert word_error_rate(MEETING, text_of(segments)) < 0.20


def test_silence_and_steady_noise_are_no_words(engine: Moonshine) -> None:
    noise = np.random.default_rng(1).standard_normal(16_000 * 5).astype(np.float32)
    hum = np.sin(2 * np.pi * 50 * np.arange(16_000 * 5) / 16_000).astype(np.float32)
    for samples in (np.zeros(16_000 * 30, np.float32), noise * 0.01, noise * 0.1, hum * 0.3):
        assert engine.transcribe(samples) == []


@pytest.mark.parametrize("count", [0, 1, 100, 480, 512, 1600, 4000, 8000])
def test_a_very_short_window_is_no_error_whatever_was_heard_before(engine: Moonshine, count: int) -> None:
    speech = sample("beckett.wav")
    engine.transcribe(speech[: 16_000 + 8_000])  # ends in the middle of a word
    assert all(segment.end <= count / 16_000 for segment in engine.transcribe(speech[16_000 : 16_000 + count]))
    assert engine.transcribe(np.zeros(count, np.float32)) == []


def test_samples_that_are_no_numbers_do_not_spoil_the_rest(engine: Moonshine) -> None:
    samples = sample("beckett.wav")
    samples[100:110] = np.nan
    samples[200] = np.inf
    assert word_error_rate(BECKETT, text_of(engine.transcribe(samples))) < 0.2


def test_threads_share_one_engine_and_each_hears_its_own_recording(engine: Moonshine) -> None:
    beckett, cities = sample("beckett.wav")[: 16_000 * 4], sample("two_cities.wav")[: 16_000 * 5]
    with ThreadPoolExecutor(4) as pool:
        heard = list(pool.map(lambda samples: text_of(engine.transcribe(samples)), [beckett, cities] * 2))
    assert all("tried" in text for text in heard[::2])
    assert all("worst of times" in text for text in heard[1::2])


def test_engines_side_by_side_find_the_same_speech_as_alone(engine: Moonshine) -> None:
    """The library's detectors share a memory: those of two models must not run at once either."""
    speech, other = sample("beckett.wav")[: 16_000 * 4], Moonshine(engine._model)
    alone = engine._spans(speech)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda one: one._spans(speech), [engine, other] * 6))
    assert found == [alone] * 12


def test_samples_reach_the_library_as_its_own_method_would_bring_them(engine: Moonshine) -> None:
    speech = sample("beckett.wav")[: 16_000 * 4]
    with engine._recognisers.one() as recogniser:
        theirs = recogniser.transcribe_without_streaming(speech.tolist()).lines
        ours = lines_of(recogniser, speech, 0)
    assert [line.text for line in ours] == [line.text for line in theirs]
    assert "tried" in ours[0].text


def test_as_many_recognisers_are_loaded_as_hear_at_once_and_no_more(engine: Moonshine) -> None:
    pool = Recognisers(engine._model, 2)
    with pool.one() as first, pool.one() as second:
        assert first is not second
    with pool.one() as again:
        assert again in (first, second)


def test_the_engine_is_loaded_once_however_many_ask_at_once(engine: Moonshine) -> None:
    barrier = threading.Barrier(4)

    def ask(_: int) -> object:
        barrier.wait(10)
        return engine_for(BUNDLED, "en-GB")

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, range(4))) == {engine}


async def test_the_event_loop_goes_on_while_the_engine_listens(engine: Moonshine) -> None:
    listening = asyncio.create_task(listen(engine, sample("beckett.wav")[: 16_000 * 4]))
    turns = 0
    while not listening.done():
        turns += 1
        await asyncio.sleep(0.01)
    assert turns > 1
    assert "tried" in text_of(await listening)


def test_the_engine_tells_its_name_and_language(engine: Moonshine) -> None:
    assert engine.name == "moonshine/tiny-en"
    assert engine.languages == {"en"}
    with pytest.raises(SchemaInvalid, match="does not hear 'de'"):
        engine.transcribe(np.zeros(10, np.float32), language="de")


@pytest.mark.parametrize(("given", "taken"), [(None, "en"), ("", "en"), ("auto", "en"), ("en", "en"), ("EN_us", "en")])
def test_a_language_is_taken_however_people_write_it(settings: Make, given: str | None, taken: str) -> None:
    assert check_language(settings(), given) == taken


def test_a_language_that_can_be_pulled_is_refused_with_the_command_that_pulls_it(settings: Make) -> None:
    with pytest.raises(SchemaInvalid, match="no speech model on this machine hears 'es'") as refused:
        check_language(settings(), "es-MX")
    assert refused.value.path == "language"
    assert "towpath models pull moonshine/base-es" in str(refused.value.remedy)


def test_a_language_moonshine_never_hears_is_refused_with_the_engines_that_do(settings: Make) -> None:
    for refuse in (check_language, engine_for):
        with pytest.raises(SchemaInvalid, match="hears 'de'") as refused:
            refuse(settings(), "de")
        assert "moonshine/" not in str(refused.value.remedy)
        assert "towpath[whisper]" in str(refused.value.remedy)
        assert "TOWPATH_SPEECH_URL" in str(refused.value.remedy)


def test_what_is_no_language_tag_is_refused(settings: Make) -> None:
    with pytest.raises(SchemaInvalid, match="no language tag"):
        check_language(settings(), "<script>")


def test_a_model_that_is_not_here_is_named_with_what_to_do(settings: Make) -> None:
    with pytest.raises(ConfigurationError, match=r"base-en is no Moonshine model.*towpath models pull moonshine/base-en"):
        check_language(settings(speech_model="base-en"), "en")


def test_a_damaged_model_is_named_with_what_to_do(settings: Make, tmp_path: Path) -> None:
    folder = tmp_path / "models" / "moonshine" / "base-en"
    folder.mkdir(parents=True)
    for name in ("tokenizer.bin", "encoder_model.ort", "decoder_model_merged.ort"):
        (folder / name).write_bytes(b"not a model")
    with pytest.raises(ConfigurationError, match=r"cannot be loaded.*towpath models pull --force moonshine/base-en"):
        engine_for(settings(speech_model="base-en"), "en")


def test_an_engine_nobody_knows_is_refused_with_those_there_are(settings: Make) -> None:
    with pytest.raises(ConfigurationError, match="one of moonshine, faster_whisper, openai_compatible, got 'siri'"):
        engine_for(settings(speech_engine="siri"))

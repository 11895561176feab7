"""Telling speakers apart: where a voice changes, and which stretches are one person's."""

import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.models.sounds import BUNDLED, decode, speak
from towpath.core.errors import ConfigurationError
from towpath.models.speech import SAMPLE_RATE, engine_for
from towpath.models.utterances import Span
from towpath.models.voices import threads
from towpath.models.voices.checkpoint import weights_in
from towpath.models.voices.encoder import Encoder, encoder_for
from towpath.models.voices.linking import Stretch, divided, linked
from towpath.models.voices.prints import Voices, packed, unpacked

TEXT = (
    "The new bridge will be open to cars in the spring, but people can already cross it on foot.",
    "She asked three questions and nobody in the room had a good answer.",
    "The river carries wood, sand, and sometimes a boat without a captain.",
    "After lunch the manager explained why the project will be late.",
)
LOW, HIGH = "en-us+m3", "en-us+f2"


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> tuple[np.ndarray, list[Span]]:
    """A low and a high voice in turns, with hardly a pause between them."""
    folder, parts, spans, at = tmp_path_factory.mktemp("talk"), [], [], 0
    for number, text in enumerate(TEXT):
        spoken = decode(speak(text, folder / f"{number}.wav", voice=(LOW, HIGH)[number % 2]))
        loud = np.flatnonzero(np.abs(spoken) > 0.02)
        spoken = spoken[loud[0] : loud[-1]]
        spans.append(Span(at / SAMPLE_RATE, (at + len(spoken)) / SAMPLE_RATE))
        parts += [spoken, np.zeros(800, dtype=np.float32)]
        at += len(spoken) + 800
    return np.concatenate(parts).astype(np.float32), spans


def test_speech_is_cut_where_the_voice_changes_and_nothing_of_it_is_left_out(talk: tuple[np.ndarray, list[Span]]) -> None:
    samples, spans = talk
    whole = Span(spans[0].start, spans[-1].end)
    cut = Voices(samples).cut([whole])
    assert [(a.end, b.start) for a, b in pairwise(cut)] == [(a.end, a.end) for a in cut[:-1]]
    assert (cut[0].start, cut[-1].end) == (whole.start, whole.end)
    for change in [span.end for span in spans[:-1]]:
        assert any(abs(part.end - change) < 0.3 for part in cut)


def test_the_same_voice_is_the_same_speaker_in_every_window(talk: tuple[np.ndarray, list[Span]]) -> None:
    samples, spans = talk
    prints = [print_ for span in spans for print_ in _alone(samples, span)]
    found = linked([Stretch(span.end - span.start, print_) for span, print_ in zip(spans, prints, strict=True)])
    assert found.people == [1, 2, 1, 2]
    assert divided([place for place in found.places if place]) in ([False, True] * 2, [True, False] * 2)


def _alone(samples: np.ndarray, span: Span) -> list[str]:
    """As if it had been heard in a window of its own."""
    piece = samples[round(span.start * SAMPLE_RATE) : round(span.end * SAMPLE_RATE)]
    return Voices(piece).prints([Span(0.0, len(piece) / SAMPLE_RATE)])


def test_an_engine_hears_each_turn_by_itself(talk: tuple[np.ndarray, list[Span]]) -> None:
    samples, spans = talk
    heard = engine_for(BUNDLED).transcribe(samples, voices=Voices(samples))
    for change in [span.end for span in spans[:-1]]:
        assert not any(segment.start < change - 0.5 and segment.end > change + 0.5 for segment in heard)


def test_what_a_service_has_told_apart_within_a_window_stays_together() -> None:
    rows = np.random.default_rng(1).normal(0, 0.01, (3, 40))
    same, other = packed("traits", rows), packed("traits", rows + 30)
    stretches = [Stretch(5.0, same, ("0", "A")), Stretch(5.0, other, ("0", "A")), Stretch(5.0, other)]
    people = linked(stretches).people
    assert people[0] == people[1]


def test_without_prints_nobody_is_told_apart() -> None:
    assert linked([Stretch(1.0, None), Stretch(2.0, None)]).people == [None, None]


def test_a_print_comes_back_as_it_was() -> None:
    rows = np.array([[1.0, -2.0, 0.5]], dtype=np.float32)
    assert unpacked(packed("traits", rows)).tolist() == rows.tolist()


def test_a_day_of_talk_is_linked_in_a_moment() -> None:
    draw = np.random.default_rng(2)
    voices = draw.normal(0, 20, (4, 40))
    who = draw.integers(0, 4, 3000)
    stretches = [Stretch(4.0, packed("traits", voices[one] + draw.normal(0, 0.3, (2, 40)))) for one in who]
    people = linked(stretches).people
    assert len(set(zip(who.tolist(), people, strict=True))) == len(set(people)) == 4


def test_an_encoder_is_a_matter_of_what_was_pulled(tmp_path: Path) -> None:
    from towpath.config import Settings

    assert encoder_for(Settings(models_dir=str(tmp_path))) is None
    weights = _weights()
    (tmp_path / "speakers").mkdir()
    np.savez(tmp_path / "speakers" / "encoder.npz", **weights)
    encoder = encoder_for(Settings(models_dir=str(tmp_path)))
    assert encoder is not None
    noise = np.random.default_rng(3).normal(0, 0.1, 3 * SAMPLE_RATE).astype(np.float32)
    rows = unpacked(Voices(noise, encoder).prints([Span(0.0, 3.0)])[0])
    assert rows.shape[1] == 256
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=0.01)


def _weights() -> dict[str, np.ndarray]:
    draw, found = np.random.default_rng(4), {}
    for layer in range(3):
        width = 40 if layer == 0 else 256
        found |= {
            f"lstm.weight_ih_l{layer}": draw.normal(0, 0.1, (1024, width)).astype(np.float32),
            f"lstm.weight_hh_l{layer}": draw.normal(0, 0.1, (1024, 256)).astype(np.float32),
            f"lstm.bias_ih_l{layer}": np.zeros(1024, dtype=np.float32),
            f"lstm.bias_hh_l{layer}": np.zeros(1024, dtype=np.float32),
        }
    return found | {
        "linear.weight": draw.normal(0, 0.1, (256, 256)).astype(np.float32),
        "linear.bias": np.full(256, 0.1, dtype=np.float32),
    }


def test_a_damaged_encoder_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "encoder.npz").write_bytes(b"no weights")
    with pytest.raises(ConfigurationError, match="towpath models pull --force speakers"):
        Encoder(tmp_path / "encoder.npz")


def test_a_file_of_weights_calls_nothing(tmp_path: Path) -> None:
    """A pickle may name any function; this one names a harmless one, which is refused all the same."""
    (tmp_path / "bad.pt").write_bytes(b"\x80\x02cos\ngetcwd\nq\x00)R.")
    with pytest.raises(ConfigurationError, match=r"posix.getcwd|os.getcwd"):
        weights_in(tmp_path / "bad.pt", "model_state")


def test_matrices_have_their_threads_back_when_the_last_has_left() -> None:
    library = threads._library()
    if library is None:
        pytest.skip("numpy has another library here")
    ask, tell = library
    before = ask()
    tell(2)
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with threads.one_thread():
            inside.set()
            leave.wait(30)

    thread = threading.Thread(target=other)
    try:
        thread.start()
        assert inside.wait(30)
        with threads.one_thread():
            assert ask() == 1
        assert ask() == 1
        leave.set()
        thread.join()
        assert ask() == 2
    finally:
        tell(before)

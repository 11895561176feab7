"""Cutting at silence: nothing lost, nothing too long, cuts where nobody speaks, memory that does not grow."""

import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.sounds import sample, write_pcm, write_wav
from towpath.core.errors import SchemaInvalid
from towpath.models import windows
from towpath.models.utterances import Span, utterances

RATE = 16_000


def voice(seconds: float) -> np.ndarray:
    """Something the detector takes for speech."""
    speech = sample("two_cities.wav")[RATE : 4 * RATE]
    return np.tile(speech, int(seconds / 3) + 1)[: int(seconds * RATE)]


def silence(seconds: float) -> np.ndarray:
    return np.zeros(int(seconds * RATE), np.float32)


def assert_covers(found: list[windows.Window], samples: int, longest: float) -> None:
    assert found[0].start == 0.0
    assert found[-1].end == pytest.approx(samples / RATE, abs=1e-9)
    assert all(before.end == after.start for before, after in pairwise(found))
    assert all(0 < window.seconds <= longest for window in found)


def test_cuts_fall_into_the_pauses(tmp_path: Path) -> None:
    audio = np.concatenate([voice(8), silence(1), voice(9), silence(1), voice(5)])
    found = windows.split(write_pcm(tmp_path / "a.pcm", audio), 10, 12)
    cuts = [window.end for window in found[:-1]]
    assert len(cuts) == 2
    assert 8 <= cuts[0] <= 9
    assert 18 <= cuts[1] <= 19
    assert_covers(found, len(audio), 12)


def test_without_a_pause_the_cut_falls_on_the_quietest_moment(tmp_path: Path) -> None:
    tone = (0.5 * np.sin(2 * np.pi * 440 * np.arange(14 * RATE) / RATE)).astype(np.float32)
    tone[int(10.5 * RATE) : int(10.6 * RATE)] *= 0.5
    found = windows.split(write_pcm(tmp_path / "a.pcm", tone), 10, 12)
    assert 10.4 <= found[0].end <= 10.7
    assert_covers(found, len(tone), 12)


def test_the_windows_read_back_are_the_recording(tmp_path: Path) -> None:
    audio = sample("two_cities.wav")
    path = write_pcm(tmp_path / "a.pcm", audio)
    found = windows.split(path, 10, 15)
    read = np.concatenate([windows.read(path, window) for window in found])
    assert len(read) == len(audio)
    assert float(np.abs(read - audio).max()) < 0.001
    assert_covers(found, len(audio), 15)


def test_a_wav_file_is_cut_like_the_bare_samples_in_it(tmp_path: Path) -> None:
    audio = sample("beckett.wav")
    bare, wav = write_pcm(tmp_path / "a.pcm", audio), write_wav(tmp_path / "a.wav", audio)
    assert windows.split(wav, 3, 5) == windows.split(bare, 3, 5)
    window = windows.Window(1.0, 2.0)
    assert np.array_equal(windows.read(wav, window), windows.read(bare, window))


def test_a_wav_file_of_another_rate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SchemaInvalid, match="at 8000 Hz in 16 bits; engines take PCM, mono, 16000 Hz"):
        windows.split(write_wav(tmp_path / "a.wav", silence(1), 8000))


def test_silence_only_is_cut_too_and_nothing_gives_no_windows(tmp_path: Path) -> None:
    found = windows.split(write_pcm(tmp_path / "a.pcm", silence(100)))
    assert_covers(found, 100 * RATE, 35)
    assert windows.split(write_pcm(tmp_path / "none.pcm", silence(0))) == []
    (tmp_path / "odd.pcm").write_bytes(b"\x01")
    assert windows.split(tmp_path / "odd.pcm") == []


def test_a_recording_that_fits_is_one_window(tmp_path: Path) -> None:
    path = write_pcm(tmp_path / "a.pcm", voice(34))
    assert windows.split(path) == [windows.Window(0.0, 34.0)]


@pytest.mark.parametrize(("target", "longest"), [(30, 20), (0, 10), (float("nan"), 35)])
def test_lengths_that_make_no_sense_are_refused(tmp_path: Path, target: float, longest: float) -> None:
    with pytest.raises(SchemaInvalid, match="1 ≤ target ≤ longest"):
        windows.split(write_pcm(tmp_path / "a.pcm", silence(1)), target, longest)


def test_a_quarter_of_an_hour_takes_little_more_memory_than_a_minute(tmp_path: Path) -> None:
    path = tmp_path / "long.pcm"
    minute = write_pcm(tmp_path / "minute.pcm", np.concatenate([voice(55), silence(5)])).read_bytes()
    with path.open("wb") as target:
        for _ in range(15):
            target.write(minute)
    windows.split(tmp_path / "minute.pcm")
    tracemalloc.start()
    found = windows.split(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_covers(found, 900 * RATE, 35)
    assert peak < 15 * 1024 * 1024  # the recording itself has 29 MB, and more once it is numbers


@settings(deadline=None, max_examples=30)
@given(
    parts=st.lists(st.tuples(st.booleans(), st.integers(1, 90_000)), max_size=8),
    target=st.floats(1, 5),
    slack=st.floats(0, 3),
)
def test_whatever_is_said_windows_cover_all_of_it(
    tmp_path_factory: pytest.TempPathFactory, parts: list[tuple[bool, int]], target: float, slack: float
) -> None:
    noise = np.random.default_rng(0).standard_normal(90_000).astype(np.float32) * 0.2
    audio = np.concatenate([np.zeros(0, np.float32), *(noise[:size] * loud for loud, size in parts)])
    found = windows.split(write_pcm(tmp_path_factory.mktemp("w") / "a.pcm", audio), target, target + slack)
    if len(audio):
        assert_covers(found, len(audio), target + slack)
    else:
        assert found == []


@given(
    st.lists(st.tuples(st.floats(0, 3), st.floats(0, 12)), max_size=12),
    st.floats(0, 1),
    st.floats(0, 0.5),
)
def test_utterances_hold_all_speech_once_and_in_order(gaps: list[tuple[float, float]], pause: float, margin: float) -> None:
    speech, at = [], 0.0
    for gap, length in gaps:
        speech.append(Span(at + gap, at + gap + length))
        at += gap + length
    found = utterances(speech, at, pause=pause, margin=margin)
    assert all(before.end <= after.start for before, after in pairwise(found))
    for span in speech:
        if span.end - span.start > 1e-6:
            assert any(one.start <= span.start + 1e-9 and span.end <= one.end + 1e-9 for one in found)

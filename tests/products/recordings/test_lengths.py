"""How long files say they are: about right for what people send, and no answer rather than an error for anything else."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.products.recordings.media import encoded, speech
from towpath.recordings.lengths import stated

SAID = ("mp3", "m4a", "mp4", "ogg", "opus", "flac", "wav", "amr")


@pytest.mark.parametrize("ending", SAID)
def test_a_file_says_how_long_it_is(tmp_path: Path, ending: str):
    samples = speech("beckett")
    path = tmp_path / "file"
    path.write_bytes(encoded(samples, ending))
    assert stated(path) == pytest.approx(len(samples) / 16_000, rel=0.05, abs=0.2)


@pytest.mark.parametrize("ending", SAID)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(data=st.data())
def test_a_damaged_file_is_no_error(tmp_path: Path, ending: str, data: st.DataObject):
    whole = bytearray(encoded(speech("beckett")[:16_000], ending))
    for place in data.draw(st.lists(st.integers(0, min(len(whole), 300) - 1), max_size=20)):
        whole[place] = data.draw(st.integers(0, 255))
    path = tmp_path / "file"
    path.write_bytes(bytes(whole[: data.draw(st.integers(0, len(whole)))]))
    found = stated(path)
    assert found is None or 0 < found < 4e6


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    head=st.sampled_from([b"RIFF____WAVE", b"fLaC", b"OggS", b"____ftyp", b"#!AMR\n", b"ID3", b""]),
    rest=st.binary(max_size=400),
)
def test_nonsense_is_no_error(tmp_path: Path, head: bytes, rest: bytes):
    path = tmp_path / "file"
    path.write_bytes(head + rest)
    found = stated(path)
    assert found is None or 0 < found < 4e6


def test_a_file_that_is_gone_says_nothing(tmp_path: Path):
    assert stated(tmp_path / "none") is None

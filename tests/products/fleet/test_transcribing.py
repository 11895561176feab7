"""What a remote worker makes of sound, with the real speech engine."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from tests.models.sounds import decode, speak, write_wav
from tests.models.test_speakers import HIGH, LOW, TEXT
from towpath import SchemaInvalid, TowpathError
from towpath.fleet.node.operations import RemoteContext
from towpath.fleet.node.transcribing import transcribe_file


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A low and a high voice, one after the other."""
    spoken = [decode(speak(TEXT[at], tmp_path / f"{at}.wav", voice=voice)) for at, voice in enumerate((LOW, HIGH, LOW))]
    return write_wav(tmp_path / "talk.wav", np.concatenate(spoken))


@pytest.fixture
def noise(tmp_path: Path) -> Path:
    target = tmp_path / "noise.wav"
    target.write_bytes(b"no sound at all")
    return target


def given(talk: Path, **settings: object) -> RemoteContext:
    return RemoteContext("task", 1, "talk.wav", dict(settings), talk, talk.with_name("output"))


async def test_a_worker_tells_who_has_said_what(talk: Path) -> None:
    ctx = given(talk, language="en", speakers=True)
    await transcribe_file(ctx)
    told = json.loads(ctx.output.read_text("utf-8"))
    turns = [one for one, _ in groupby(one["speaker"] for one in told["segments"])]
    assert turns == ["Speaker 1", "Speaker 2", "Speaker 1"]
    assert [one.model for one in ctx.used] == [told["engine"]]
    assert (ctx.current, ctx.message) == (ctx.total, "transcribing")


async def test_what_is_no_sound_or_no_language_is_refused(talk: Path, noise: Path) -> None:
    with pytest.raises(TowpathError, match="tlh"):
        await transcribe_file(given(talk, language="tlh"))
    with pytest.raises(SchemaInvalid):
        await transcribe_file(given(noise))

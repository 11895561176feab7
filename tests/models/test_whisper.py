"""The optional engine: what is said where it, or its model, is missing; and that the library is called as it wants to be."""

import importlib
import inspect
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.models.conftest import Make
from towpath.core.errors import ConfigurationError
from towpath.models import whisper
from towpath.models.speech import check_language, engine_for


@pytest.mark.skipif(find_spec("faster_whisper") is not None, reason="faster-whisper is installed here")
def test_the_missing_extra_is_named(settings: Make) -> None:
    for refuse in (check_language, engine_for):
        with pytest.raises(ConfigurationError, match=r"pip install 'towpath\[whisper\]'"):
            refuse(settings(speech_engine="faster-whisper"), "de")


def test_a_model_is_looked_for_by_name_or_directory(settings: Make, tmp_path: Path) -> None:
    assert whisper.model_path(settings()) == tmp_path / "models" / "whisper" / "small"
    own = tmp_path / "own"
    own.mkdir()
    (own / "model.bin").touch()
    assert whisper.model_path(settings(speech_model=str(own))) == own


def test_the_library_takes_what_it_is_called_with() -> None:
    library = pytest.importorskip("faster_whisper")
    opening = inspect.signature(library.WhisperModel).bind("model", **whisper.OPENING)
    hearing = inspect.signature(library.WhisperModel.transcribe).bind(None, None, language=None, **whisper.HEARING)
    assert "model_kwargs" not in opening.arguments  # such would be passed on unread
    assert hearing.arguments.keys() >= whisper.HEARING.keys()
    segment = inspect.signature(importlib.import_module("faster_whisper.transcribe").Segment)
    assert segment.parameters.keys() >= {"start", "end", "text"}


def test_a_directory_that_is_no_model_is_told_with_what_to_do(settings: Make, tmp_path: Path) -> None:
    """As far as one can go without a model: the engine is made, and the library opens what it was given."""
    pytest.importorskip("faster_whisper")
    (tmp_path / "model.bin").write_bytes(b"not a model")
    with pytest.raises(ConfigurationError, match=r"cannot be loaded.*towpath models pull --force"):
        engine_for(settings(speech_engine="faster-whisper", speech_model=str(tmp_path)), "de")

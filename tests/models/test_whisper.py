"""The optional engine: what is said where it, or its model, is missing."""

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

"""Which language was spoken, as engines tell it, and which ones they know."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.models.conftest import Make
from tests.models.sounds import sample
from tests.models.wire_server import Answer, WireServer
from towpath.core.errors import SchemaInvalid
from towpath.models import whisper
from towpath.models.inventory import entries, heard_by, size_of
from towpath.models.languages import WHISPER, detected
from towpath.models.pulling import WHISPER_MODELS, remove
from towpath.models.speech import engine_for


@pytest.mark.parametrize(
    ("said", "tag"),
    [
        ("german", "de"), ("German", "de"), ("de", "de"), ("pt-BR", "pt"), ("haitian creole", "ht"), ("", None),
        (None, None), (7, None), ("no language that anybody knows", None),
    ],
)  # fmt: skip
def test_what_an_engine_says_was_spoken_becomes_a_tag(said: object, tag: str | None) -> None:
    assert detected(said) == tag


@pytest.mark.parametrize(("said", "tag"), [("english", "en"), ("uk", "uk"), (None, None)])
def test_a_service_tells_what_it_heard_with_every_segment(
    settings: Make, wire: WireServer, said: str | None, tag: str | None
) -> None:
    segments = [{"start": 0, "end": 1, "text": "a"}, {"start": 1, "end": 2, "text": "b"}]
    wire.answers.append(Answer({"segments": segments} | ({"language": said} if said else {})))
    heard = engine_for(settings(speech_url=wire.url)).transcribe(sample("beckett.wav"))
    assert [(one.text, one.language) for one in heard] == [("a", tag), ("b", tag)]


def test_whisper_tells_what_it_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is an extra; what it answers is played here, in its own shape."""
    asked: list[Any] = []

    class Library:
        def transcribe(self, samples: Any, *, language: str | None, **options: Any) -> Any:
            asked.append(language)
            return iter([SimpleNamespace(start=0.0, end=1.0, text=" Guten  Morgen ")]), SimpleNamespace(language="de")

    engine = whisper.Whisper.__new__(whisper.Whisper)
    monkeypatch.setattr(whisper.Whisper, "__init__", lambda *_: None)
    engine._model, engine._lock = Library(), whisper.threading.Lock()
    [segment] = engine.transcribe(sample("beckett.wav"))
    assert (segment.text, segment.language, asked) == ("Guten Morgen", "de", [None])


def test_whisper_refuses_what_it_does_not_know(settings: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(whisper, "find_spec", lambda name: name)
    folder = tmp_path / "models" / "whisper" / "small"
    folder.mkdir(parents=True)
    (folder / "model.bin").touch()
    assert whisper.check(settings(), "de-AT") == "de"
    with pytest.raises(SchemaInvalid, match="Whisper does not hear 'tlh'"):
        whisper.check(settings(), "tlh")


def test_the_inventory_says_sizes_and_languages(settings: Make) -> None:
    found = {entry.name: entry for entry in entries(settings())}
    assert (found["moonshine/tiny-en"].hears, found["moonshine/tiny-en"].detects) == (("en",), False)
    assert found["moonshine/base-es"].bytes == size_of("moonshine/base-es") == 64_818_159
    assert not found["moonshine/tiny-en"].pulled  # it came along
    assert set(found["whisper/small"].hears or ()) == set(WHISPER)
    assert found["whisper/small.en"].hears == ("en",)
    assert all(size_of(f"whisper/{model}") for model in WHISPER_MODELS)
    assert size_of("whisper/none") is None


def test_languages_to_choose_are_those_of_the_engine_in_force(settings: Make, wire: WireServer) -> None:
    assert heard_by(settings()) == (("en",), False)
    assert heard_by(settings(speech_url=wire.url)) == (tuple(WHISPER), True)
    assert heard_by(settings(speech_engine="faster_whisper", speech_model="small")) == ((), False)  # it is not here


def test_only_what_could_have_been_pulled_is_removed(settings: Make) -> None:
    with pytest.raises(Exception, match="that could have been pulled"):
        remove(settings(), "whisper/../..")
    assert not remove(settings(), "whisper/tiny")

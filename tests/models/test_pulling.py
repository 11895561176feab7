"""Models come to this machine whole or not at all, and can be used then."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.models.conftest import Make
from tests.models.sounds import BECKETT, sample
from tests.models.wire_server import Answer, Asked, WireServer
from tests.models.words import word_error_rate
from towpath.cli.root import app
from towpath.core.errors import ConfigurationError
from towpath.models.inventory import entries
from towpath.models.moonshine_files import installed, package
from towpath.models.pulling import pull
from towpath.models.speech import check_language, engine_for


def mirror(asked: Asked) -> Answer:
    """What the wheel carries, by the paths its makers publish it at."""
    file = package() / "assets" / "tiny-en" / asked.path.rpartition("/")[2]
    if asked.path.startswith("/model/tiny-en/") and file.is_file():
        return Answer(file.read_bytes())
    return Answer(b"", 404)


def test_a_pulled_model_hears(settings: Make, wire: WireServer, tmp_path: Path) -> None:
    wire.always = mirror
    seen: list[tuple[str, int, int | None]] = []
    chosen = settings(models_url=wire.root)
    folder = pull(chosen, "moonshine/tiny-en", report=lambda *told: seen.append(told))
    assert sorted(path.name for path in folder.iterdir()) == [
        "decoder_model_merged.ort",
        "encoder_model.ort",
        "tokenizer.bin",
    ]
    assert seen[-1] == ("tokenizer.bin", 249_974, 249_974)
    engine = engine_for(settings(speech_model=str(folder)), "en")
    heard = " ".join(segment.text for segment in engine.transcribe(sample("beckett.wav")))
    assert word_error_rate(BECKETT, heard) < 0.10
    asked = len(wire.asked)
    pull(chosen, "moonshine/tiny-en")
    assert len(wire.asked) == asked == 3
    pull(chosen, "moonshine/tiny-en", force=True)
    assert len(wire.asked) == 6


@pytest.mark.parametrize(
    ("spoil", "why"),
    [(lambda body: body[:-1], "bytes where .* were expected"), (lambda body: b"?" + body[1:], "wrong checksum")],
    ids=["short", "changed"],
)
def test_a_file_that_is_not_what_was_published_is_not_kept(settings: Make, wire: WireServer, spoil, why: str) -> None:  # type: ignore[no-untyped-def]
    wire.always = lambda asked: Answer(spoil(mirror(asked).content()))
    chosen = settings(models_url=wire.root)
    with pytest.raises(ConfigurationError, match=f"{why}.*nothing was kept"):
        pull(chosen, "moonshine/tiny-en")
    assert not [path for path in Path(chosen.models_dir).rglob("*") if path.is_file()]


def test_a_model_that_was_pulled_in_part_does_not_count(settings: Make, wire: WireServer) -> None:
    wire.always = lambda asked: Answer(b"", 404) if "tokenizer" in asked.path else mirror(asked)
    chosen = settings(models_url=wire.root, speech_model="")
    with pytest.raises(ConfigurationError, match=r"answered 404; .*TOWPATH_MODELS_URL"):
        pull(chosen, "moonshine/tiny-en")
    assert (Path(chosen.models_dir) / "moonshine" / "tiny-en" / "encoder_model.ort").is_file()
    assert [model.path for model in installed(chosen)] == [package() / "assets" / "tiny-en"]


def test_a_pulled_language_is_no_longer_refused(settings: Make) -> None:
    chosen = settings()
    folder = Path(chosen.models_dir) / "moonshine" / "base-es"
    folder.mkdir(parents=True)
    for name in ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin"):
        (folder / name).touch()
    assert check_language(chosen, "es") == "es"
    assert check_language(chosen, None) == "en"
    states = {entry.name: entry.state for entry in entries(chosen)}
    assert states["moonshine/base-es"] == "installed"
    assert states["moonshine/tiny-en"] == "in use"
    assert states["moonshine/base-ja"] == "can be pulled"


def test_the_commands_list_and_pull(wire: WireServer, tmp_path: Path) -> None:
    wire.always = mirror
    environ = {"TOWPATH_MODELS_DIR": str(tmp_path / "m"), "TOWPATH_MODELS_URL": wire.root}
    done = CliRunner().invoke(app, ["models", "pull", "moonshine/tiny-en"], env=environ)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "m" / "moonshine" / "tiny-en" / "tokenizer.bin").is_file()
    listed = CliRunner().invoke(app, ["models", "list", "--json"], env=environ)
    rows = {row["name"]: row for row in json.loads(listed.stdout)}
    assert rows["moonshine/tiny-en"]["state"] == "in use"
    assert "non-commercial" in rows["moonshine/base-es"]["note"]
    assert "moonshine/tiny-en" in CliRunner().invoke(app, ["models", "list"], env=environ).stdout


def test_the_commands_say_what_is_wrong_in_one_line(wire: WireServer, tmp_path: Path) -> None:
    wire.always = mirror
    environ = {"TOWPATH_MODELS_DIR": str(tmp_path / "m"), "TOWPATH_MODELS_URL": wire.root}
    unknown = CliRunner().invoke(app, ["models", "pull", "../../etc"], env=environ)
    assert unknown.exit_code == 2
    assert "there is no model '../../etc' to pull; there are moonshine/" in unknown.stderr
    absent = CliRunner().invoke(app, ["models", "pull", "whisper/small"], env=environ)
    assert absent.exit_code == 2
    assert "answered 404" in absent.stderr
    assert "TOWPATH_MODELS_DIR" in absent.stderr

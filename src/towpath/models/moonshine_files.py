"""Moonshine's models on this machine: the one its wheel carries, and those that were pulled or copied here.

A model is a directory named for its size and language, such as `tiny-en` or `base-es`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from towpath.core.errors import ConfigurationError
from towpath.models.settings import ModelSettings, models_dir

SIZES = ("tiny", "base", "tiny-streaming", "base-streaming", "small-streaming", "medium-streaming")
"""In the order of the numbers the library gives them."""
_BETTER = ("tiny", "tiny-streaming", "base", "base-streaming", "small-streaming", "medium-streaming")
BUNDLED = "tiny-en"
_NAME = re.compile(rf"({'|'.join(sorted(SIZES, key=len, reverse=True))})-([a-z]{{2,3}})")
_MISSING = "Moonshine hears on this machine, and is not installed: pip install 'towpath[local]'"


@dataclass(frozen=True, slots=True)
class Model:
    name: str
    size: str
    language: str
    path: Path


def package() -> Path:
    """Where the library lies; found without importing it."""
    spec = find_spec("moonshine_voice")
    if spec is None or spec.origin is None:
        raise ConfigurationError(_MISSING)
    return Path(spec.origin).parent


def installed(settings: ModelSettings) -> list[Model]:
    """The better model of a language comes first."""
    found = [model_at(package() / "assets" / BUNDLED)]
    pulled = models_dir(settings) / "moonshine"
    if pulled.is_dir():
        found += [model_at(path) for path in sorted(pulled.iterdir()) if _NAME.fullmatch(path.name) and _complete(path)]
    return sorted(found, key=lambda model: -_BETTER.index(model.size))


def named(settings: ModelSettings) -> Model | None:
    """The model that TOWPATH_SPEECH_MODEL names, by name or by directory."""
    wanted = settings.speech_model.removeprefix("moonshine/")
    if not wanted:
        return None
    for model in installed(settings):
        if model.name == wanted:
            return model
    path = Path(wanted)
    if not _complete(path):
        known = ", ".join(model.name for model in installed(settings))
        raise ConfigurationError(
            f"TOWPATH_SPEECH_MODEL={settings.speech_model} is no Moonshine model on this machine (there is: {known}); "
            f"run towpath models pull moonshine/{path.name}, or give a directory with tokenizer.bin and its .ort files"
        )
    return model_at(path)


def model_at(path: Path) -> Model:
    parts = _NAME.fullmatch(path.name)
    if parts is None:
        raise ConfigurationError(
            f"the directory {path.name!r} does not tell which Moonshine model it holds; name it for its size and language, "
            f"such as base-es (sizes: {', '.join(SIZES)})"
        )
    return Model(path.name, parts[1], parts[2], path)


def _complete(path: Path) -> bool:
    """Pulled files get their names when they are whole, the tokenizer last."""
    return (path / "tokenizer.bin").is_file() and any(path.glob("*.ort"))

"""Fetches models to this machine. A file gets its name when it is whole and checked; until then there is no model.

Names say engine and model: `moonshine/base-es`, `whisper/small`; `speakers` is what tells voices apart.
"""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from towpath.core.errors import ConfigurationError
from towpath.models.moonshine_catalog import File, files_of, published
from towpath.models.settings import ModelSettings, models_dir
from towpath.models.voices.fetching import NAME as SPEAKERS
from towpath.models.voices.fetching import pull_encoder

Report = Callable[[str, int, int | None], None]
"""Told the file's name, how many bytes are here, and how many there will be."""

WHISPER_MODELS = ("tiny", "base", "small", "medium", "large-v3", "tiny.en", "base.en", "small.en", "medium.en")
_WHISPER_FILES = ("config.json", "tokenizer.json", "vocabulary", "model.bin")
_WHISPER_HOME = "https://huggingface.co/Systran/faster-whisper-{name}/resolve/main/{file}"
_TIMEOUT = 60.0


def pull(settings: ModelSettings, name: str, *, force: bool = False, report: Report | None = None) -> Path:
    """The directory that holds the model now. What is there already is not fetched again, unless forced."""
    if name == SPEAKERS:
        return pull_encoder(settings, force=force, report=report or _silently)
    engine, _, model = name.partition("/")
    files = _files(engine, model, name)
    folder = models_dir(settings) / engine / model
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for file in files:
            if force or not (folder / file.name).is_file():
                _fetch(settings, file, folder, report or _silently)
    finally:
        if not any(folder.iterdir()):
            folder.rmdir()
    return folder


def check(name: str) -> None:
    """Refuses what there is no model for, before anything is fetched."""
    if name != SPEAKERS:
        engine, _, model = name.partition("/")
        _files(engine, model, name)


def remove(settings: ModelSettings, name: str) -> bool:
    """Takes a pulled model from this machine; answers whether there was one. Processes that have it loaded go on with it."""
    engine, _, model = name.partition("/")
    known = {SPEAKERS, *(f"whisper/{one}" for one in WHISPER_MODELS)}
    if engine == "moonshine":
        known |= {f"moonshine/{item.name}" for item in published()}
    if name not in known:
        raise ConfigurationError(f"there is no model {name!r} that could have been pulled")
    folder = models_dir(settings) / engine / model if model else models_dir(settings) / name
    if not folder.is_dir():
        return False
    shutil.rmtree(folder)
    return True


def _files(engine: str, model: str, name: str) -> list[File]:
    """The file that makes a model complete comes last."""
    if engine == "moonshine":
        for item in published():
            if item.name == model:
                return sorted(files_of(item), key=lambda file: file.name == "tokenizer.bin")
    if engine == "whisper" and model in WHISPER_MODELS:
        return [_whisper_file(model, file) for file in _WHISPER_FILES]
    known = [f"moonshine/{item.name}" for item in published()] + [f"whisper/{item}" for item in WHISPER_MODELS]
    raise ConfigurationError(f"there is no model {name!r} to pull; there are {', '.join([*known, SPEAKERS])}")


def _whisper_file(model: str, file: str) -> File:
    actual = {"vocabulary": "vocabulary.json" if model == "large-v3" else "vocabulary.txt"}.get(file, file)
    return File(actual, _WHISPER_HOME.format(name=model, file=actual), None, None)


def _fetch(settings: ModelSettings, file: File, folder: Path, report: Report) -> None:
    url = _mirrored(settings, file.url)
    part = folder / f".{file.name}.{os.getpid()}.part"
    try:
        _download(url, part, file, report)
        part.replace(folder / file.name)
    finally:
        part.unlink(missing_ok=True)


def _mirrored(settings: ModelSettings, url: str) -> str:
    return settings.models_url.rstrip("/") + urlsplit(url).path if settings.models_url else url


def _download(url: str, part: Path, file: File, report: Report) -> None:
    import httpx

    try:
        with httpx.stream("GET", url, follow_redirects=True, timeout=_TIMEOUT) as response:
            response.raise_for_status()
            told = response.headers.get("content-length")
            whole = file.bytes if file.bytes is not None else int(told) if told else None
            check = _write(response.iter_bytes(1 << 20), part, file.name, whole, report)
    except httpx.HTTPStatusError as error:
        raise ConfigurationError(f"the address {url} answered {error.response.status_code}; {_BY_HAND}") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ConfigurationError(f"the file {url} cannot be fetched ({type(error).__name__}: {error}); {_BY_HAND}") from None
    _check(url, part, file, whole, check)


_TRY_AGAIN = "nothing was kept, try again"
_BY_HAND = (
    "where there is no way to the network, name a mirror with TOWPATH_MODELS_URL, or copy the model's directory from "
    "another machine into TOWPATH_MODELS_DIR"
)


def _write(pieces: Iterator[bytes], part: Path, name: str, whole: int | None, report: Report) -> Any:
    check, size = _crc32c(), 0
    with part.open("wb") as target:
        for piece in pieces:
            target.write(piece)
            check.update(piece)
            size += len(piece)
            report(name, size, whole)
            if whole is not None and size > whole:
                break
    return check


def _check(url: str, part: Path, file: File, whole: int | None, check: Any) -> None:
    size = part.stat().st_size
    if whole is not None and size != whole:
        raise ConfigurationError(f"the address {url} gave {size:,} bytes where {whole:,} were expected; {_TRY_AGAIN}")
    digest = check.digest()
    if file.crc32c and digest and base64.b64encode(digest).decode() != file.crc32c:
        raise ConfigurationError(f"the file {url} is not what its maker published (wrong checksum); {_TRY_AGAIN}")


class _Unchecked:
    """Stands in where the checksum library is missing: the size is checked all the same."""

    def update(self, piece: bytes) -> None: ...

    def digest(self) -> bytes:
        return b""


def _crc32c() -> Any:
    try:
        import google_crc32c
    except ImportError:
        return _Unchecked()
    return google_crc32c.Checksum()  # type: ignore[no-untyped-call]  # ships no types


def _silently(name: str, here: int, whole: int | None) -> None: ...

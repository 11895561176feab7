"""What can be told about the installation without asking the database: versions, settings, disk space."""

from __future__ import annotations

import platform
import shlex
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from towpath import config, wiring
from towpath.choices.vault import file_of
from towpath.cli.words import size
from towpath.config import Settings
from towpath.engine.asking.findings import Finding, note, ok, problem
from towpath.store import private
from towpath.version import __version__

_OLDEST_PYTHON = (3, 11)
_TIGHT, _COMFORTABLE = 100 * 1024**2, 1024**3


def check_installation(url: str, settings: Settings) -> list[Finding]:
    return [ok("towpath", __version__), _python(), *_components(), *_settings(), *_disk(url, settings), *_privacy(url)]


def _python() -> Finding:
    version = platform.python_version()
    if sys.version_info < _OLDEST_PYTHON:
        return problem("python", f"{version} is too old", "install Python 3.11 or later")
    return ok("python", version)


def _components() -> list[Finding]:
    return [
        problem(name, f"{version}: {wrong}", "pip install --upgrade apsw") if wrong else ok(name, version)
        for name, version, wrong in wiring.components()
    ]


def _settings() -> list[Finding]:
    return [
        note("settings", f"{name} is set, but there is no such setting", "towpath config lists all of them")
        for name in config.unknown()
    ]


def _privacy(url: str) -> list[Finding]:
    """What others on this machine can read."""
    if not url.startswith("sqlite:"):
        return []
    path = config.sqlite_path(url).absolute()
    found = private.loose([*private.files_of(path), file_of(path), path.with_name("towpath.log")])
    if not found:
        return [ok("privacy", "the database's files are readable for their owner, or the group that shares them")]
    names = ", ".join(place.name for place in found)
    return [note("privacy", f"others on this machine can read {names} in {path.parent}", _close(found))]


def _close(found: list[Path]) -> str:
    return f"chmod 600 {' '.join(shlex.quote(str(place)) for place in found)}; for a group that shares them, 660"


def _disk(url: str, settings: Settings) -> list[Finding]:
    """Both places, unless they are on one disk: SQLite's file, and the directory of stored values."""
    places: dict[int, tuple[str, Path]] = {}
    for what, path in _places(url, settings):
        home = _nearest(path)
        places.setdefault(home.stat().st_dev, (what, home))
    return [_room(what, path) for what, path in places.values()]


def _places(url: str, settings: Settings) -> list[tuple[str, Path]]:
    places = []
    if url.startswith("sqlite:"):
        places.append(("the database", config.sqlite_path(url).absolute()))
    if settings.blobs_url.startswith("file:"):
        places.append(("stored values", Path(unquote(urlsplit(settings.blobs_url).path))))
    elif not settings.blobs_url and not url.startswith("sqlite:"):
        places.append(("stored values", Path("towpath-blobs").absolute()))
    return places


def _nearest(path: Path) -> Path:
    """The path, or the closest folder above it that exists already."""
    return next(place for place in (path, *path.parents) if place.exists())


def _room(what: str, path: Path) -> Finding:
    free = shutil.disk_usage(path).free
    message = f"{size(free)} free for {what} ({path})"
    if free < _TIGHT:
        return problem("disk", message, "free some space: new jobs are refused when the disk is full")
    return note("disk", message, "free some space soon") if free < _COMFORTABLE else ok("disk", message)

"""Settings. This is the only file that reads the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from pathlib import Path

from towpath.core.errors import ConfigurationError

DEFAULT_DATABASE_URL = "sqlite:///towpath.db"


def _setting(default: object, what: str) -> object:
    return field(default=default, metadata={"what": what})


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting; each is read from `TOWPATH_` + its name in capitals."""

    database_url: str = _setting(DEFAULT_DATABASE_URL, "Where jobs live: sqlite:///path or postgresql://…")  # type: ignore[assignment]
    blobs_url: str = _setting(
        "", "Where large values live: file:///dir. Empty: a directory beside the SQLite file, or ./towpath-blobs"
    )  # type: ignore[assignment]
    lease_seconds: float = _setting(
        30.0, "How long a worker may be silent before its jobs are rescued; renewed every third of it"
    )  # type: ignore[assignment]
    poll_seconds: float = _setting(1.0, "How often a worker looks for work when no doorbell rings")  # type: ignore[assignment]
    pool_size: int = _setting(10, "PostgreSQL connections per process, besides one each for the bell and the heartbeat")  # type: ignore[assignment]
    checkout_seconds: float = _setting(10.0, "How long a caller waits for a free connection before it is refused")  # type: ignore[assignment]
    drain_seconds: float = _setting(
        20.0, "How long a worker lets running jobs finish after SIGTERM before it hands them back"
    )  # type: ignore[assignment]
    max_payload_bytes: int = _setting(16 * 1024 * 1024, "Largest payload, step output or result; larger ones are refused")  # type: ignore[assignment]
    inline_bytes: int = _setting(64 * 1024, "Values above this size go to the blob store by themselves")  # type: ignore[assignment]
    keep_succeeded_days: float = _setting(30.0, "Prune succeeded and cancelled jobs after this many days; 0: never")  # type: ignore[assignment]
    keep_failed_days: float = _setting(0.0, "Prune failed and partial jobs after this many days; 0: never")  # type: ignore[assignment]
    log_level: str = _setting("INFO", "Level of the worker's own log")  # type: ignore[assignment]
    log_json: bool = _setting(False, "Write the log as JSON lines instead of text")  # type: ignore[assignment]


def load(environ: dict[str, str] | None = None) -> Settings:
    """Settings from the environment; a value that does not fit is refused with its name."""
    source = os.environ if environ is None else environ
    values: dict[str, object] = {}
    for item in fields(Settings):
        name = f"TOWPATH_{item.name.upper()}"
        if name in source:
            values[item.name] = _parse(name, source[name], item.default)
    return Settings(**values)  # type: ignore[arg-type]  # _parse returns the type of the default


def _parse(name: str, text: str, default: object) -> object:
    try:
        if isinstance(default, bool):
            return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.lower()]
        if isinstance(default, int | float):
            value = type(default)(text)
            if value < 0:
                raise ValueError
            return value
        return text
    except (KeyError, ValueError):
        kind = "true or false" if isinstance(default, bool) else "a number of zero or more"
        raise ConfigurationError(f"{name} must be {kind}, got {text!r}") from None


def sqlite_path(url: str) -> Path:
    """The file behind sqlite:///relative or sqlite:////absolute."""
    path = url.removeprefix("sqlite:///")
    if not path or path == ":memory:":
        raise ConfigurationError(
            f"{url} names no file; Towpath keeps jobs in a file that several processes can open, e.g. sqlite:///jobs.db"
        )
    return Path(path)


def blobs_beside(path: Path) -> Path:
    """The directory for large values of a SQLite file that no setting sends elsewhere."""
    return path.parent / f"{path.name}-blobs"


def documented() -> list[tuple[str, object, str]]:
    """(environment variable, default, meaning) of every setting, for the docs and `towpath doctor`."""
    return [(f"TOWPATH_{item.name.upper()}", item.default, item.metadata["what"]) for item in fields(Settings)]


def unknown(environ: dict[str, str] | None = None) -> list[str]:
    """Variables that look like settings and are none: most likely misspelt, and silently without effect."""
    source = os.environ if environ is None else environ
    known = {name for name, _, _ in documented()}
    return sorted(name for name in source if name.startswith("TOWPATH_") and name not in known)

"""Keys of services are kept encrypted: a copy of the database alone opens nothing.

What encrypts them is the installation's own secret: `TOWPATH_SECRET_KEY`, or a file beside SQLite's database that is made
when the first key is kept, for nobody else on the machine. It is in no backup of the database. A ciphertext belongs to one
service at one address: moved to another row, or to another address, it cannot be read.
"""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
from pathlib import Path
from typing import Any

from towpath.config import sqlite_path
from towpath.core.errors import ConfigurationError
from towpath.engine.app import App

_FORMAT = "v1:"
_NONCE = 12  # bytes, as AES-GCM has it
_SHORTEST = 32
FILE = "-secret"
"""Behind the database's name."""
_MAKE_ONE = "python -c 'import secrets; print(secrets.token_urlsafe(32))'"


def sealed(app: App, key: str, service: str, url: str) -> str:
    nonce = os.urandom(_NONCE)
    text = _cipher(_secret(app, make=True)).encrypt(nonce, key.encode(), _belongs_to(service, url))
    return _FORMAT + base64.b64encode(nonce + text).decode()


def opened(app: App, ciphertext: str, service: str, url: str) -> str:
    from cryptography.exceptions import InvalidTag

    try:
        raw = base64.b64decode(ciphertext.removeprefix(_FORMAT), validate=True)
        cipher = _cipher(_secret(app, make=False))
        plain: bytes = cipher.decrypt(raw[:_NONCE], raw[_NONCE:], _belongs_to(service, url))
    except (InvalidTag, ValueError):
        raise _unreadable(service, "it was kept with another secret than this process has") from None
    except FileNotFoundError as error:
        raise _unreadable(service, f"there is no file {error.filename}, which comes with no backup") from None
    return plain.decode()


def _unreadable(service: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"the key of the service {service!r} cannot be read: {why}; enter the key again in Settings → Models, or give every "
        "process the same TOWPATH_SECRET_KEY as when it was entered"
    )


def _belongs_to(service: str, url: str) -> bytes:
    return f"{service}\n{url}".encode()


def _secret(app: App, *, make: bool) -> str:
    if app.settings.secret_key:
        if len(app.settings.secret_key) < _SHORTEST:
            raise ConfigurationError(f"TOWPATH_SECRET_KEY must have at least {_SHORTEST} characters; make one: {_MAKE_ONE}")
        return app.settings.secret_key
    if not app.url.startswith("sqlite:"):
        raise ConfigurationError(
            "keys of services are kept encrypted, and on PostgreSQL there is no place beside the database for the secret: "
            f"set TOWPATH_SECRET_KEY to the same value for the server and all workers; make one: {_MAKE_ONE}"
        )
    path = file_of(sqlite_path(app.url))
    if make and not path.exists():
        _make(path)
    return path.read_text("ascii").strip()


def file_of(database: Path) -> Path:
    return database.with_name(database.name + FILE)


def _make(path: Path) -> None:
    """Whole or not at all, and once: whoever comes second takes what is there."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            path.hardlink_to(unfinished)
        except FileExistsError:
            return
    finally:
        unfinished.unlink(missing_ok=True)


def _cipher(secret: str) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise ConfigurationError(
            "keys of services are kept encrypted, which needs a library that is not installed: pip install 'towpath[server]'"
        ) from None
    return AESGCM(hashlib.sha256(b"towpath: keys of services\n" + secret.encode()).digest())

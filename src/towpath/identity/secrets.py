"""Secrets that are drawn at random. Only their hashes are stored: with that much chance in them, a plain one is enough."""

from __future__ import annotations

import hashlib
import secrets

_BYTES = 32
TOKEN_MARK = "tow_"
_SHOWN = len(TOKEN_MARK) + 8


def draw() -> str:
    """256 random bits as text that needs no escaping in a URL or a cookie."""
    return secrets.token_urlsafe(_BYTES)


def draw_token() -> str:
    """An API token: 192 random bits behind a mark that secret scanners can look for."""
    return TOKEN_MARK + secrets.token_hex(24)


def prefix_of(token: str) -> str:
    """Enough to tell tokens apart in a list; 160 bits stay secret."""
    return token[:_SHOWN]


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()

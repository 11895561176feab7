"""Where the bells of one installation are found at a broker that others may use, too."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import urlsplit

from towpath.core.errors import ConfigurationError
from towpath.core.masking import masked

_PREFIX = re.compile(r"[A-Za-z0-9_-]{1,40}")
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST_NAME = 80


def prefix_from(url: str, given: str, installation: str) -> str:
    """What the URL says; otherwise it is told by the database, which all processes of an installation share."""
    prefix = given or f"towpath-{installation[:8]}"
    if not _PREFIX.fullmatch(prefix):
        raise ConfigurationError(
            f"TOWPATH_TRANSPORT={masked(url)} names the prefix {prefix!r}; it must be 1 to 40 letters, digits, _ or -"
        )
    return prefix


def plain_name(prefix: str, queue: str) -> str:
    """One name for each queue of jobs, out of the few letters that every broker takes. Others are told apart by a digest."""
    if _PLAIN.fullmatch(queue) and len(name := f"{prefix}-{queue}") <= _LONGEST_NAME:
        return name
    digest = hashlib.blake2b(queue.encode(), digest_size=6).hexdigest()
    readable = re.sub(r"[^A-Za-z0-9_-]+", "-", queue)[: _LONGEST_NAME - len(prefix) - len(digest) - 2]
    return f"{prefix}-{readable}-{digest}"


def parts_of(url: str) -> tuple[str, str, dict[str, str]]:
    """Host, path and parameters of a transport's URL, which has a scheme of its own."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        raise ConfigurationError(f"TOWPATH_TRANSPORT={masked(url)} is no address: {error}") from None
    pairs = (one.partition("=") for one in parts.query.split("&") if one)
    return host, parts.path.strip("/"), {name: value for name, _, value in pairs}

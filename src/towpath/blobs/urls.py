"""What the URL of a blob store in the settings names. `wiring.py` opens it."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from towpath.blobs.errors import InvalidBlobUrl

BUCKETS = {"s3": "S3Store", "gs": "GCSStore", "az": "AzureStore"}
"""Schemes of buckets -> the class of obstore's that speaks to them."""
_KNOWN = "known schemes: file (file:///absolute/directory), s3, gs and az (s3://bucket/prefix)"
_PLACE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*")


def directory_of(url: str) -> Path:
    """Errors name the scheme only: the rest of a bucket's URL may hold credentials."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InvalidBlobUrl(f"the URL of the blob store cannot be read ({error}); {_KNOWN}") from error
    if parts.scheme != "file":
        given = f"the scheme {parts.scheme!r}" if parts.scheme else "no scheme"
        raise InvalidBlobUrl(f"the URL of the blob store has {given}, which names no store; {_KNOWN}")
    return _directory(parts.netloc, unquote(parts.path), bool(parts.query or parts.fragment))


def bucket_of(url: str) -> tuple[str, str, str] | None:
    """Scheme, bucket and prefix of a bucket's URL; None if it is not one."""
    scheme, _, place = url.partition("://")
    if scheme not in BUCKETS:
        return None
    place = place.removesuffix("/")
    if not _PLACE.fullmatch(place):
        raise InvalidBlobUrl(
            f"the {scheme} URL of the blob store is not {scheme}://bucket or {scheme}://bucket/prefix, of letters, digits, "
            f"'.', '_' and '-'; credentials are not part of it, they come from the environment; {_KNOWN}"
        )
    bucket, _, prefix = place.partition("/")
    return scheme, bucket, prefix


def _directory(host: str, path: str, has_more: bool) -> Path:
    if host not in ("", "localhost"):
        raise InvalidBlobUrl("the file URL of the blob store names a host; write file:///absolute/directory, three slashes")
    if has_more:
        raise InvalidBlobUrl("a file URL of a blob store has no '?' or '#' part; write them as %3F and %23 in a path")
    if not path.startswith("/") or not path.strip("/") or "\0" in path:
        raise InvalidBlobUrl(f"{path!r} is no directory to keep blobs in; write file:///absolute/directory")
    return Path(path)

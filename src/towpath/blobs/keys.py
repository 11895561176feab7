"""The grammar of keys: one that is safe as a file path, as an object name and in a URL without escaping."""

import re

from towpath.blobs.errors import InvalidBlobKey

MAX_KEY_LENGTH = 512
"""Half of what S3, GCS and Azure allow, so that a store can live below a prefix of its bucket."""

MAX_SEGMENT_LENGTH = 255

_SEGMENT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_REMEDY = (
    "use generated keys made of segments of letters, digits, '.', '_' and '-' that do not begin with '.', "
    "joined by '/', and keep the user's file name as metadata"
)


def is_segment(name: str) -> bool:
    return len(name) <= MAX_SEGMENT_LENGTH and _SEGMENT.fullmatch(name) is not None


def check_key(key: str) -> tuple[str, ...]:
    """The key's segments. Nothing reaches a disk or a bucket without having passed here."""
    return _segments("blob key", key)


def check_prefix(prefix: str, *, allow_empty: bool) -> tuple[str, ...]:
    """The prefix's segments; it names a folder, and one trailing slash is accepted."""
    if prefix == "":
        if allow_empty:
            return ()
        raise InvalidBlobKey("the prefix is empty, which would mean every blob of the store; name the folder you mean")
    return _segments("blob prefix", prefix.removesuffix("/"))


def _segments(what: str, key: str) -> tuple[str, ...]:
    if len(key) > MAX_KEY_LENGTH:
        raise InvalidBlobKey(f"{what} is {len(key)} characters long, beginning {key[:40]!r}; shorten it to {MAX_KEY_LENGTH}")
    segments = tuple(key.split("/"))
    for segment in segments:
        if not is_segment(segment):
            wrong = "an empty segment" if segment == "" else f"the segment {segment[:80]!r}"
            if len(segment) > MAX_SEGMENT_LENGTH:
                wrong = f"a segment longer than {MAX_SEGMENT_LENGTH} characters"
            raise InvalidBlobKey(f"{what} {key[:80]!r} has {wrong}; {_REMEDY}")
    return segments

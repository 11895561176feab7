"""What a bucket's refusals mean, in words of ours: the library's own show addresses, headers and whole answers."""

from __future__ import annotations

import re

from towpath.blobs.errors import BlobError, BlobNotFound, BlobStoreUnavailable

_CODE = re.compile(r"<Code>(\w{1,60})</Code>")
_STATUS = re.compile(r"status code: (\d{3})")
_NO_BUCKET = frozenset({"NoSuchBucket", "ContainerNotFound"})
_METADATA = ("169.254.169.254", "169.254.170.2", "metadata.google.internal")


def past_the_end(error: Exception) -> bool:
    """Nothing of the value lies in the range that was asked for."""
    return "status code: 416" in str(error)


def meaning_of(error: Exception, address: str, key: str) -> BlobError:
    """Raise it `from None`: the cause's text may hold what was sent."""
    what, remedy = _said(error, key)
    if what is None:
        return BlobNotFound(key)
    return BlobStoreUnavailable(f"the blob store at {address}: {what}; {remedy}")


def _said(error: Exception, key: str) -> tuple[str | None, str]:
    from obstore import exceptions as raised

    text = str(error)
    answered = _CODE.search(text) or _STATUS.search(text)
    code = answered[1] if answered else type(error).__name__
    if code in _NO_BUCKET:
        return "there is no such bucket", "make it, or correct TOWPATH_BLOBS_URL"
    if isinstance(error, FileNotFoundError):
        return None, ""
    if any(host in text for host in _METADATA):
        return "no credentials were found", "set the variables of its credentials for this process"
    if isinstance(error, raised.PreconditionError):
        return f"{key!r} was replaced while it was read", "read it again"
    if isinstance(error, raised.UnauthenticatedError | raised.PermissionDeniedError | PermissionError):
        return f"it refuses these credentials ({code})", "check them, and what they may do there"
    if "builder error" in text:
        return "its endpoint is not an https:// address", "correct it, or allow http:// (AWS_ALLOW_HTTP=true)"
    if "error sending request" in text:
        return "it cannot be reached", "check its endpoint and region and the network, then try again"
    return f"it did not do what was asked ({code})", "try again later"

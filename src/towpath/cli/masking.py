"""Database URLs as they may be shown: without their passwords."""

from __future__ import annotations

import re

# Up to the last @, so that a password with a stray @ or / in it is covered as a whole.
_USERINFO = re.compile(r"(?<=//)([^/@:]*):.*@")
_PARAMETER = re.compile(r"((?:^|[?&])(?:password|sslpassword)=)[^&]*", re.IGNORECASE)


def masked(url: str) -> str:
    """Works on the text, because what is not a valid URL may hold a password too."""
    return _PARAMETER.sub(r"\1***", _USERINFO.sub(r"\1:***@", url))

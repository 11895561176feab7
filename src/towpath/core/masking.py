"""Addresses as they may be shown: without passwords and keys."""

from __future__ import annotations

import re

# Up to the last @, so that a password with a stray @ or / in it is covered as a whole.
_USERINFO = re.compile(r"(?<=//)([^/@:\s]*):[^\s]*@")
# On the web the name may itself be the key: that is how clients get one that know no other place for it.
_NAME = re.compile(r"(?<=http://)[^/@:\s?#]+(?=[:@])(?=[^/]*@)|(?<=https://)[^/@:\s?#]+(?=[:@])(?=[^/]*@)", re.IGNORECASE)
_SECRET = r"[\w.%-]*(?:key|token|secret|passw|pwd|sig|auth|credential|code)[\w.%-]*"
_PARAMETER = re.compile(rf"((?:^|[?&;#])(?!sslkey=|sslcert=)(?:{_SECRET})=)[^&;#\s]*", re.IGNORECASE)


def masked(url: str) -> str:
    """Works on the text, because what is not a valid URL may hold a password too."""
    return _PARAMETER.sub(r"\1***", _NAME.sub("***", _USERINFO.sub(r"\1:***@", url)))

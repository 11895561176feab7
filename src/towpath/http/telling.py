"""What the log says of a request: its method and path, without the secrets a path may hold, on one line."""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from typing import Any

from towpath.core.log_lines import one_line

_LONGEST = 500
# API tokens, wherever somebody has put one.
_hidden: list[re.Pattern[str]] = [re.compile(r"(?<=tow_)[\w%-]+", re.IGNORECASE)]


def hide(pattern: str) -> None:
    """Declares what of a path is never written down; the pattern matches just the secret."""
    _hidden.append(re.compile(pattern))


def told(scope: MutableMapping[str, Any]) -> str:
    """The path only: a query may hold the secret of a one-time link."""
    path = one_line(scope["path"])  # first of all: a break in the middle of a secret must not end what is hidden
    for pattern in _hidden:
        path = pattern.sub("***", path)
    return f"{one_line(scope['method'])} {path}"[:_LONGEST]

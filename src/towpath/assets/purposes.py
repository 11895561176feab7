"""What uploads are for. A product registers who gets a finished upload, and what it takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from towpath.assets.records import Asset
from towpath.assets.sniffing import MEDIA
from towpath.engine.app import App
from towpath.http.principal import Principal
from towpath.http.problem import invalid

Receiver = Callable[[App, Principal, Asset, Mapping[str, str]], Awaitable[dict[str, Any]]]
Check = Callable[[App, Principal, Mapping[str, str]], None]

receivers: dict[str, Receiver] = {}
"""By purpose. It may be called again for the same asset, after a crash, and then answers the same."""
checks: dict[str, Check] = {}
"""By purpose, if there is one: refuses options before anything is uploaded, by raising."""
kinds_taken: dict[str, Collection[str] | None] = {}
"""By purpose: the kinds of files it takes; audio and video if nothing else is said."""


def receiver_of(purpose: str) -> Receiver:
    found = receivers.get(purpose)
    if found is None:
        known = ", ".join(sorted(receivers)) or "none"
        raise invalid("purpose", f"nothing here takes uploads for {purpose[:100]!r}; known are: {known}")
    return found


def kinds_of(purpose: str) -> Collection[str] | None:
    return kinds_taken.get(purpose, MEDIA)

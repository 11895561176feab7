"""How long a stream may be silent, how much it may owe, and how often it is looked after."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from towpath.engine.tending.tombstones import STREAMS_RETURN_WITHIN


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds and bytes; the defaults are for people, tests choose their own."""

    heartbeat: float = 15.0
    """A stream that has nothing to say says so, before a proxy believes that it has died."""
    retry: float = 1.0
    """How long a browser waits before it comes back."""
    glance: float = 1.0
    """How often it is seen whether a session or token of somebody who listens was revoked."""
    recheck: float = 15.0
    """How often each stream is asked closely whether whoever listens still may."""
    interval: float = 0.05
    """Events that come in quick succession are read together, after so long."""
    page: int = 2000
    """About how many events are read at a time."""
    mailbox: int = 2 * 1024 * 1024
    """How many bytes a stream may be behind before it is closed; it comes back and reads them by itself."""
    patience: float = 0.5
    """How long everybody waits for one that is half as far behind, and takes nothing meanwhile."""
    projection: float = 5.0
    """How long everybody waits for what a product says of its things; then that is left out."""
    resting: float = 30.0
    """For so long a product that did not answer is not asked again: everybody would wait each time."""
    joining: float = 10.0
    """How long a new stream waits for the reader before it is refused."""
    farewell: float = 2.0
    """How long a stream that is closed has for its last words."""
    streams: int = 1000
    """The most streams of one process."""
    streams_each: int = 300
    """The most streams of one account in one process."""
    tokens: timedelta = STREAMS_RETURN_WITHIN
    """How long a token leads back to its place."""

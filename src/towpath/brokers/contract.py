"""What goes through a queue. Any message may come twice, late, or in another order; one that is not deleted comes again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to send; nobody is handed it before `delay_seconds` have passed."""

    body: str
    delay_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Unsent:
    """A message of a batch that the broker did not take, by its place in it; `again` says whether trying again may help."""

    index: int
    reason: str
    again: bool


@dataclass(frozen=True, slots=True)
class Message:
    """A message that was handed to us, for as long as its visibility lasts; `handed_out` says for which time."""

    id: str
    body: str
    receipt: str
    handed_out: int
    sent_at: float


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many messages wait, are in somebody's hands, and are delayed. Brokers say so approximately."""

    waiting: int
    in_hand: int
    delayed: int

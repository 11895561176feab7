"""What uploads are for. A product says on its app who gets a finished upload, and what it takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from towpath import App, Context, Transaction
from towpath.assets.errors import AssetRefused
from towpath.assets.records import Asset
from towpath.assets.sender import Sender
from towpath.assets.sniffing import MEDIA


@dataclass(frozen=True, slots=True)
class Arrival:
    """A file that is here, for whoever it was sent to."""

    sender: Sender
    asset: Asset
    options: Mapping[str, str]
    prepared: Any = None
    """What `prepare` answered."""


Receiver = Callable[[Transaction, Arrival], Awaitable[dict[str, Any]]]
"""Makes of a file what it was sent for, and answers what the sender is told. It is a unit, see `App.transact`: what it
changes and enqueues commits with the end of the upload, and only while the job that hands it over is still the one to do so.
So there is no second time."""
Prepare = Callable[[Context, Arrival], Awaitable[Any]]
"""Whatever has to be known before and is not in the database, or takes its time. It may be called again, after a crash."""
Check = Callable[[App, Sender, Mapping[str, str]], Awaitable[None]]
"""Refuses options before anything is uploaded, by raising."""


@dataclass(frozen=True, slots=True)
class Purpose:
    receive: Receiver
    prepare: Prepare
    check: Check
    kinds: Collection[str] | None


class Purposes:
    """Of one app, by name."""

    def __init__(self) -> None:
        self._known: dict[str, Purpose] = {}

    def add(self, name: str, purpose: Purpose) -> None:
        self._known[name] = purpose

    def get(self, name: str) -> Purpose:
        found = self._known.get(name)
        if found is None:
            known = ", ".join(sorted(self._known)) or "none"
            raise AssetRefused(
                f"nothing here takes uploads for {name[:100]!r}; known are: {known}", path="purpose",
                remedy="name one of these, or register it with assets.on_upload",
            )  # fmt: skip
        return found


def on_upload(
    app: App,
    purpose: str,
    receive: Receiver,
    *,
    prepare: Prepare | None = None,
    check: Check | None = None,
    kinds: Collection[str] | None = MEDIA,
) -> None:
    """Says who gets the uploads to this app whose purpose is this one. They are refused unless they are of these `kinds`:
    audio and video if nothing else is said; None takes any file. `check` refuses options before anything is sent, `prepare`
    looks at the file before `receive` is called."""
    app.part(Purposes).add(purpose, Purpose(receive, prepare or _nothing, check or _any_options, kinds))


def purpose_of(app: App, name: str) -> Purpose:
    """Raises `AssetRefused` if nothing takes uploads for it."""
    return app.part(Purposes).get(name)


async def _any_options(app: App, sender: Sender, options: Mapping[str, str]) -> None:
    """Whatever does not fit is the receiver's to refuse."""


async def _nothing(ctx: Context, arrival: Arrival) -> None:
    """Most have nothing to find out first."""

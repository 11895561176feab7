"""Sending what is new: files in portions, of which each is a run as soon as it is there, addresses and buckets at once.

What is known already is not sent again: it is followed while it is under way, and begun again where it failed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from towpath.blobs import BlobError
from towpath.cli.ingesting.gathering import Gathered
from towpath.cli.ingesting.outcomes import DONE, KNOWN, Outcome
from towpath.cli.ingesting.place import BUCKET, ENDED, TOGETHER, UPLOAD, URL, Place, Shape
from towpath.cli.transcribing.place import digest_of
from towpath.core.errors import TowpathError
from towpath.outbound.sources import shown

_PORTION_FILES, _PORTION_BYTES = 500, 256 * 1024 * 1024
_ADDRESSES = 5000


@dataclass(frozen=True, slots=True)
class Wishes:
    settings: Mapping[str, Any]
    title: str | None = None
    again: bool = False


@dataclass(slots=True)
class Watched:
    """A run that is followed: who stands behind its numbers. A bucket's are not known before it has been listed."""

    run_id: str
    by_number: dict[int, Outcome] = field(default_factory=dict)
    whole: Outcome | None = None


@dataclass(slots=True)
class Sent:
    """Everything that was asked for, and the runs in which it is read. It grows while it is followed."""

    outcomes: list[Outcome] = field(default_factory=list)
    runs: dict[str, Watched] = field(default_factory=dict)

    def new(self, name: str) -> Outcome:
        self.outcomes.append(Outcome(name))
        return self.outcomes[-1]

    def watch(self, run_id: str) -> Watched:
        return self.runs.setdefault(run_id, Watched(run_id))

    def follow(self, outcome: Outcome, item: Shape) -> None:
        outcome.look(item)
        self.watch(item["run_id"]).by_number[item["number"]] = outcome


async def send_all(place: Place, gathered: Gathered, wishes: Wishes, sent: Sent) -> None:
    for name, why in gathered.broken:
        sent.new(name).fail(why)
    addresses = [(address, sent.new(shown(address))) for address in gathered.addresses]
    folders = [(uri, sent.new(shown(uri))) for uri in gathered.folders]
    files = [(path, sent.new(str(path))) for path in gathered.files]
    await _send_addresses(place, addresses, wishes, sent)
    for uri, outcome in folders:
        await _begin(place, BUCKET, [({"uri": uri}, outcome)], wishes, sent)
    for portion in _portions(files):
        await _send_files(place, portion, wishes, sent)


async def _send_addresses(
    place: Place, addresses: Sequence[tuple[str, Outcome]], wishes: Wishes, sent: Sent
) -> None:  # fmt: skip
    asked = [({"url": address}, outcome) for address, outcome in addresses]
    new = asked if wishes.again else await _unknown(place, asked, wishes, sent)
    for start in range(0, len(new), _ADDRESSES):
        await _begin(place, URL, new[start : start + _ADDRESSES], wishes, sent)


def _portions(files: Sequence[tuple[Path, Outcome]]) -> Iterator[list[tuple[Path, Outcome]]]:
    """Reading begins with the first of them, and whoever is interrupted has lost nothing of those before."""
    portion: list[tuple[Path, Outcome]] = []
    size = 0
    for path, outcome in files:
        with suppress(OSError):
            size += path.stat().st_size
        portion.append((path, outcome))
        if len(portion) >= _PORTION_FILES or size >= _PORTION_BYTES:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


async def _send_files(place: Place, portion: Sequence[tuple[Path, Outcome]], wishes: Wishes, sent: Sent) -> None:
    described = []
    for path, outcome in portion:
        outcome.status = "reading"
        try:
            digest = await digest_of(path)
        except OSError as error:
            outcome.fail(str(error))
        else:
            described.append(({"source": place.source_of(path), "sha256": digest}, outcome))
    new = described if wishes.again else await _unknown(place, described, wishes, sent)
    paths = {id(outcome): path for path, outcome in portion}
    uploaded: list[tuple[dict[str, Any], Outcome]] = []
    try:
        for one, outcome in new:
            asset_id = await _uploaded(place, paths[id(outcome)], outcome)
            if asset_id is not None:
                uploaded.append(({"asset_id": asset_id, "source": one["source"]}, outcome))
    except asyncio.CancelledError:  # what is there already is on record before we go, and is taken up next time
        await _begin(place, UPLOAD, uploaded, wishes, sent)
        raise
    await _begin(place, UPLOAD, uploaded, wishes, sent)


async def _uploaded(place: Place, path: Path, outcome: Outcome) -> str | None:
    outcome.status = "sending"
    try:
        return await place.upload(path)
    except (TowpathError, BlobError, OSError) as error:
        outcome.fail(_told(error))
        return None


async def _begin(
    place: Place, kind: str, items: Sequence[tuple[dict[str, Any], Outcome]], wishes: Wishes, sent: Sent
) -> None:  # fmt: skip
    if not items:
        return
    try:
        run_id = await place.begin(kind, [one for one, _ in items], wishes.settings, wishes.title)
    except TowpathError as error:
        if len(items) == 1:
            items[0][1].fail(_told(error))
            return
        for one in items:  # one of them is what is wrong; the others are not to suffer for it
            await _begin(place, kind, [one], wishes, sent)
        return
    watched = sent.watch(run_id)
    if kind == BUCKET:
        watched.whole = items[0][1]
        return
    for number, (_, outcome) in enumerate(items):
        outcome.status, outcome.run_id = "waiting", run_id
        watched.by_number[number] = outcome


async def _unknown(
    place: Place, asked: Sequence[tuple[dict[str, Any], Outcome]], wishes: Wishes, sent: Sent
) -> list[tuple[dict[str, Any], Outcome]]:
    """Those that have to be sent. The others are done, or followed from here on."""
    found: list[Shape | None] = []
    for start in range(0, len(asked), TOGETHER):
        found += await place.known([one for one, _ in asked[start : start + TOGETHER]], wishes.settings)
    standing = [(pair, item) for pair, item in zip(asked, found, strict=True) if item is not None]
    refused = await _taken_up(place, [item for _, item in standing])
    for (_, outcome), item in standing:
        if item["id"] not in refused:
            _take(outcome, item, sent)
    return [pair for pair, item in zip(asked, found, strict=True) if item is None or item["id"] in refused]


def _take(outcome: Outcome, item: Shape, sent: Sent) -> None:
    if item["status"] in ENDED and item["status"] != "COMPLETED":
        item = item | {"status": "PENDING", "step": "waiting", "waiting_for": None}  # it was begun again just now
    if item["status"] == "COMPLETED":
        outcome.look(item)
        outcome.status = KNOWN if outcome.status == DONE else outcome.status
    else:
        sent.follow(outcome, item)


async def _taken_up(place: Place, items: Sequence[Shape]) -> set[str]:
    """Begins those again that failed; answers those that cannot be."""
    by_run: dict[str, list[str]] = {}
    for item in items:
        if item["status"] in ("FAILED", "CANCELLED"):
            by_run.setdefault(item["run_id"], []).append(item["id"])
    refused: set[str] = set()
    for run_id, ids in by_run.items():
        refused |= await place.retry(run_id, ids)
    return refused


def _told(error: Exception) -> str:
    remedy = getattr(error, "remedy", None)
    return f"{error}; {remedy}" if remedy else str(error)

"""The stream of all events, for everybody who listens: `app.events`, the push stream, webhooks.

It is read in deltas. A delta is what lies between two cursors of the store. Inside it the order is by job, then by the job's
own `seq`: so the events of one job stand together, and a place inside (`job`, `seq`) stays right when other jobs are deleted
meanwhile, which a count of events would not. The token of a place means the same in every process, after a restart and after
deletions, as long as what comes after it is kept. See docs/decisions/0013-the-push-stream.md.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import Self

from towpath.core.encoding import decode
from towpath.core.errors import StreamReset
from towpath.core.ids import FIRST_ID
from towpath.core.records import DELETED_SEQ, Event, Subject
from towpath.store.contract import Row, Store, Tx

DELETED, CHANGED = "job.deleted", "subject.changed"
"""The events that stand for a deleted job, and for something that was changed without one. Their message is the tenant, and
their fields are the subject."""
OF_NO_JOB = frozenset({DELETED, CHANGED})

_LONGEST_TOKEN = 16_000
_MOST_FIELD_BYTES = 8 * 1024
_ANY_SIZE = 2**31 - 1
_CURSOR = r"([0-9:,]+)"
_JOB = r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
_TOKEN = re.compile(rf"([0-9a-f]{{8}})\.([0-9]{{1,12}})\.{_CURSOR}(?:~{_CURSOR}~{_JOB}~([0-9]{{1,10}}))?")
_NUMBER = re.compile(r"[0-9]{1,18}")
_SNAPSHOT = re.compile(r"([0-9]{1,19}):([0-9]{1,19}):([0-9]{1,19}(?:,[0-9]{1,19})*)?")


def subject_told(event: Event) -> Subject | None:
    """The subject of an event that has no job to ask for it."""
    return (event.fields["kind"], event.fields["id"]) if event.name in OF_NO_JOB and event.fields else None


@dataclass(frozen=True, slots=True)
class Place:
    """Behind everything up to the cursor `since`; with `upto`, also behind `job` and its `seq` in the delta between them."""

    since: str
    at: int
    """Unix seconds: everything committed before is behind this place."""
    upto: str | None = None
    job: str = FIRST_ID
    seq: int = 0

    def inside(self, upto: str, job: str, seq: int) -> Place:
        return replace(self, upto=upto, job=job, seq=seq)


@dataclass(frozen=True, slots=True)
class Page:
    """Some events of one delta, those of one job together and in order."""

    events: list[Event]
    begin: Place
    upto: str
    end: Place
    more: bool
    """Whether there is something to read right away."""

    def place_after(self, event: Event) -> Place:
        return self.begin.inside(self.upto, event.job_id, event.seq)


class Deltas:
    """Reads one database's stream. Tokens name the database, so that one from elsewhere is noticed."""

    def __init__(self, store: Store, identity: str) -> None:
        self._store = store
        self._identity = identity

    @classmethod
    async def of(cls, store: Store) -> Self:
        [row] = await store.read(lambda tx: tx.fetch("stream_identity"))
        return cls(store, hashlib.blake2b(row["identity"].encode(), digest_size=4).hexdigest())

    async def now(self) -> Place:
        """Behind everything that has happened so far."""
        return await self._store.read(_now)

    async def page(
        self, place: Place, *, until: Place | None = None, limit: int = 2000, only: str | None = None, whole: bool = False
    ) -> Page:
        """What follows the place, up to `until` or to what has happened so far; `only` events of one job. Fields of more
        than 8 KiB are replaced by their size, unless they are wanted `whole`.

        About `limit` events in one piece, and never more than twice as many.
        """
        bytes_ = _ANY_SIZE if whole else _MOST_FIELD_BYTES
        unit = partial(_page, place=place, until=until, limit=limit, only=only, most_bytes=bytes_)
        return await self._store.read(unit)

    def token(self, place: Place) -> str:
        base = f"{self._identity}.{place.at}.{place.since}"
        return base if place.upto is None else f"{base}~{place.upto}~{place.job}~{place.seq}"

    async def place(self, token: str, *, within: timedelta | None = None) -> Place:
        """The place a token stands for. StreamReset if it is not of this database, or from before what is still kept, or not
        from `within` that time."""
        match = _TOKEN.fullmatch(token) if len(token) <= _LONGEST_TOKEN else None
        if match is None or match[1] != self._identity:
            raise StreamReset("unknown", token)
        place = Place(match[3], int(match[2]))
        if match[4] is not None:
            place = place.inside(match[4], match[5], int(match[6]))
        if place.seq > DELETED_SEQ or not all(_well_formed(cursor, self._store.dialect) for cursor in _cursors(place)):
            raise StreamReset("unknown", token)
        if reason := await self._store.read(partial(_misfit, place=place, within=within)):
            raise StreamReset(reason, token)
        return place


async def _now(tx: Tx) -> Place:
    return Place((await tx.fetch("stream_now"))[0]["cursor"], int(tx.now.timestamp()))


async def _misfit(tx: Tx, place: Place, within: timedelta | None) -> str | None:
    """Why nobody can go on from there; None if one can."""
    for cursor in _cursors(place):
        if not (await tx.fetch("stream_fits", cursor=cursor))[0]["fits"]:
            return "unknown"
    floor = await tx.fetch("upkeep_until", name="streams")
    below = bool(floor) and floor[0]["until"] is not None and place.at < floor[0]["until"].timestamp()
    old = within is not None and tx.now.timestamp() - place.at >= within.total_seconds()
    return "expired" if below or old else None


async def _page(tx: Tx, place: Place, until: Place | None, limit: int, only: str | None, most_bytes: int) -> Page:
    goal = until or await _now(tx)
    if place.since == goal.since and place.upto is None:
        return Page([], place, goal.since, goal, more=False)
    upto = place.upto or await _slice_end(tx, place.since, goal.since, limit)
    most = 2 * limit
    rows = await tx.fetch(
        "stream_delta", since=place.since, upto=upto, job=place.job, seq=place.seq, limit=most, only=only,
        most_bytes=most_bytes,
    )  # fmt: skip
    events = [_event(row) for row in rows]
    if len(events) == most:
        return Page(events, place, upto, place.inside(upto, events[-1].job_id, events[-1].seq), more=True)
    if upto == goal.since:
        return Page(events, place, upto, goal, more=False)
    return Page(events, place, upto, Place(upto, place.at), more=True)


async def _slice_end(tx: Tx, since: str, until: str, limit: int) -> str:
    """Where to end a delta of about so many events, if not at `until`, so that no job's events come in the wrong order."""
    upto: str = (await tx.fetch("stream_end", since=since, until=until, limit=limit))[0]["cursor"]
    while upto != until:
        late = await tx.fetch("stream_stragglers", since=since, upto=upto, until=until)
        if not late:
            break
        upto = late[0]["cursor"]
    return upto


def _event(row: Row) -> Event:
    return Event(
        str(row["job_id"]), row["seq"], row["attempt"], row["name"], row["level"], row["message"], decode(row["fields"]),
        row["ts"],
    )  # fmt: skip


def _cursors(place: Place) -> list[str]:
    return [place.since] if place.upto is None else [place.since, place.upto]


def _well_formed(cursor: str, dialect: str) -> bool:
    """A token comes from outside: what the database would choke on is refused before it gets there."""
    if dialect == "sqlite":
        return _NUMBER.fullmatch(cursor) is not None
    match = _SNAPSHOT.fullmatch(cursor)
    if match is None:
        return False
    low, high = int(match[1]), int(match[2])
    running = [int(number) for number in match[3].split(",")] if match[3] else []
    ascending = all(one < another for one, another in pairwise(running))
    within = not running or (low <= running[0] and running[-1] < high)
    return 0 < low <= high < 2**63 and ascending and within

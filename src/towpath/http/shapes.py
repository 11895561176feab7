"""What all shapes share: strict requests, pages, and text that every database can hold."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar, get_args

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer

from towpath.core.encoding import plain
from towpath.core.naming import spelt

T = TypeVar("T")
R = TypeVar("R")
_MOST_EXAMINED = 1000
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d")


class Answer(BaseModel):
    """Something the API answers."""

    # Every field is always there: a client need not ask whether it was left out.
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


class Request(BaseModel):
    """Something the API takes; a field it does not know is refused, because it was meant to do something."""

    model_config = ConfigDict(extra="forbid")


def _storable(text: str) -> str:
    if plain(text, limit=len(text) + 1) != text:
        raise ValueError("the text has a NUL or a lone surrogate, which no database can store")
    return text


Text = Annotated[str, AfterValidator(_storable)]
Label = Annotated[Text, Field(min_length=1, max_length=500)]
"""A name that people choose freely: of a tenant, a lane, a key, a signal."""
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,199}$")]
"""A name of an operation, a queue or a schedule."""


def any_case(choice: Any) -> BeforeValidator:
    """For a Literal that people ask by: capitals, hyphens and underscores do not matter in what they send."""
    names = get_args(choice)
    return BeforeValidator(lambda value: spelt(value, names) if isinstance(value, str) else value)


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Moment = Annotated[datetime, PlainSerializer(_utc, return_type=str, when_used="json")]
"""RFC 3339 in UTC with milliseconds."""


def _sensible(moment: datetime) -> datetime:
    if not 1970 <= moment.year < 9000:
        raise ValueError("the time must lie between the years 1970 and 9000")
    return moment.astimezone(UTC)


def _written_out(value: object) -> object:
    """Numbers are no times here, although they could be read as some."""
    if not isinstance(value, datetime) and not (isinstance(value, str) and _RFC_3339.match(value)):
        raise ValueError("a time is written like 2026-01-31T12:00:00Z")
    return value


AskedMoment = Annotated[AwareDatetime, BeforeValidator(_written_out), AfterValidator(_sensible)]
"""RFC 3339 with an offset; a time without one would mean something else on every machine."""


class Page(Answer, Generic[T]):
    """One page. `next` goes back as `after=…`; a page may be short, even empty, and still have a next one."""

    items: list[T]
    next: Annotated[str | None, Field(description="Where the next page begins; null on the last page.")] = None


LAST = "g"
"""Sorts after every id: the first page of a list from the newest to the oldest is what comes before it."""


def page_of(rows: Sequence[R], limit: int, shape: Callable[[R], T], id_of: Callable[[R], str]) -> Page[T]:
    """The page of a list that was asked for one row more than `limit`, so that it is known whether there is a next one."""
    shown = rows[:limit]
    return Page[Any](items=[shape(row) for row in shown], next=id_of(shown[-1]) if len(rows) > limit else None)


async def page_of_fitting(
    look: Callable[[str | None, int], Awaitable[Sequence[R]]],
    fits: Callable[[R], bool],
    shape: Callable[[R], T],
    id_of: Callable[[R], str],
    *,
    after: str | None,
    limit: int,
) -> Page[T]:
    """The page of a list with a filter that no query can ask for, such as a status that is told from jobs.

    `look(before, count)` answers the next rows, and those that fit are gathered. Only so many are looked at: a page may
    be short, even empty, and have a next one.
    """
    found: list[R] = []
    before, examined, more = after, 0, True
    while more and len(found) < limit and examined < _MOST_EXAMINED:
        rows = await look(before, limit + 1)
        more, rows = len(rows) > limit, rows[:limit]
        fitting, room = [row for row in rows if fits(row)], limit - len(found)
        found += fitting[:room]
        examined, before = examined + len(rows), id_of(rows[-1]) if rows else None
        if len(fitting) > room:
            before, more = id_of(found[-1]), True
    return Page[Any](items=[shape(row) for row in found], next=before if more else None)

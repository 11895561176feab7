"""The first so many of a list that fit, where only somebody who has looked at them can tell whether they do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

V = TypeVar("V")


async def first_fitting(
    page: Callable[[str | None, int], Awaitable[Sequence[V]]],
    fits: Callable[[V], bool],
    id_of: Callable[[V], str],
    limit: int,
) -> list[V]:
    """`page` answers so many of those before an id. They are looked at page by page, until there are enough or no more."""
    found: list[V] = []
    before = None
    while some := await page(before, limit):
        found += [one for one in some if fits(one)]
        before = id_of(some[-1])
        if len(found) >= limit or len(some) < limit:
            break
    return found[:limit]

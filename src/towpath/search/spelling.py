"""Slips of the pen: a word that nobody has written is taken for those that are one or two letters away."""

from __future__ import annotations

from collections.abc import Iterable

from towpath import Reading
from towpath.search.terms import mark

_SHORTEST, _LONG = 4, 8
_MOST = 5


async def alike(now: Reading, tenant: str, forms: Iterable[str]) -> list[str]:
    """Words of this tenant that were probably meant. They begin with the same letter, where slips are rare."""
    found: dict[str, int] = {}
    for form in forms:
        if len(form) < _SHORTEST or not form.isalpha():
            continue
        low = mark(tenant) + form[0]
        rows = await now.query("search_lexemes_between", low=low, high=low[:-1] + chr(ord(low[-1]) + 1))
        start, most = len(low) - 1, 1 if len(form) < _LONG else 2
        for row in rows:
            other = row["lexeme"][start:]
            if abs(len(other) - len(form)) <= most and (slips := distance(form, other, most)) <= most:
                found[other] = min(slips, found.get(other, slips))
    nearest = min(found.values(), default=0)
    return [other for other, slips in sorted(found.items()) if slips == nearest][:_MOST]


def distance(one: str, other: str, most: int) -> int:
    """Letters to add, leave out, change or swap with their neighbour; more than `most` is only told as more."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, written in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != written))
            if last and j > 1 and letter == other[j - 2] and one[i - 2] == written:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]

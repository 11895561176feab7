"""All rules over a text. Where two of them want the same letters, the one that is listed first has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from towpath.search.recognizing.forms import emails, ibans, phones, references, urls
from towpath.search.recognizing.names import organisations, persons
from towpath.search.recognizing.precision import SHOWN
from towpath.search.recognizing.quantities import dates, money
from towpath.search.recognizing.setting import Unset
from towpath.search.records import Mention

Rule = Callable[[str], Iterator[Mention]]
_RULES: tuple[Rule, ...] = (urls, emails, ibans, dates, money, phones, references, persons, organisations)


def mentions(text: str) -> list[Mention]:
    """In the order of the text."""
    return [one for one in every_mention(text) if one.type in SHOWN]


def every_mention(text: str) -> list[Mention]:
    """Those of types that are not shown, too: for measuring them."""
    unset = Unset(text)
    taken = bytearray(len(unset.text))
    found: list[Mention] = []
    for rule in _RULES:
        for one in rule(unset.text):
            if not any(taken[one.start : one.end]):
                taken[one.start : one.end] = b"\1" * (one.end - one.start)
                found.append(replace(one, start=unset.place(one.start), end=unset.place(one.end - 1) + 1))
    return sorted(found, key=lambda one: one.start)

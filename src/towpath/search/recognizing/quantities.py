"""Dates and amounts of money, as English, German and French write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from towpath.search.records import Mention

_NAMES = (
    "january|januar|jänner|janvier|jan", "february|februar|février|feb", "march|märz|mars|mar", "april|avril|apr", "may|mai",
    "june|juni|juin|jun", "july|juli|juillet|jul", "august|août|aug", "september|septembre|sept|sep",
    "october|oktober|octobre|oct|okt", "november|novembre|nov", "december|dezember|décembre|dec|dez",
)  # fmt: skip
_MONTHS = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split("|")}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_YEAR = r"(?P<year>(?:1[5-9]|20|21)\d\d)"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])"
_NUMBER = r"(?P<monthnumber>1[0-2]|0?[1-9])"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<![\w.-]){_YEAR}-{_NUMBER}-{_DAY}(?![\w-])",
        rf"(?<![\w.-]){_DAY}(?:st|nd|rd|th|er|\.)? (?:of |de )?{_MONTH} {_YEAR}(?!\w)",
        rf"(?<!\w){_MONTH} {_DAY}(?:st|nd|rd|th)?,? {_YEAR}(?!\w)",
        rf"(?<![\w./-]){_DAY}\. ?{_NUMBER}\. ?{_YEAR}(?!\w)",
        rf"(?<![\w./-]){_DAY}/{_NUMBER}/{_YEAR}(?![\w/])",
    )
)
_CURRENCIES = {
    "€": "EUR", "euro": "EUR", "euros": "EUR", "$": "USD", "dollar": "USD", "dollars": "USD", "£": "GBP", "pound": "GBP",
    "pounds": "GBP", "¥": "JPY", "yen": "JPY", "franken": "CHF",
}  # fmt: skip
_CODES = "EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|CAD|AUD"
_WORDS = "euros?|dollars?|pounds?|yen|franken"
_AMOUNT = r"(?P<amount>\d{1,3}(?:[.,' \u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,2})?)(?![\d])"
_TIMES = r"(?: ?(?P<times>million|billion|millionen|milliarden|millions|milliards|mio\.?|mrd\.?)(?!\w))?"
_MONEY = (
    re.compile(rf"(?<![\w.,])(?P<currency>[€$£¥]|(?:{_CODES})(?= )) ?{_AMOUNT}{_TIMES}", re.IGNORECASE),
    re.compile(
        rf"(?<![\w.,/-]){_AMOUNT}{_TIMES} ?(?:d'|de )?(?P<currency>[€$£¥]|(?:{_CODES}|{_WORDS})(?!\w))",
        re.IGNORECASE,
    ),
)


def dates(text: str) -> Iterator[Mention]:
    """The key is the day as ISO 8601 writes it; of 3/4/2025 the first is taken to be the day."""
    for pattern in _DATES:
        for found in pattern.finditer(text):
            parts = found.groupdict()
            month = _MONTHS[parts["month"].lower()] if parts.get("month") else int(parts["monthnumber"])
            try:
                day = date(int(parts["year"]), month, int(parts["day"]))
            except ValueError:  # the 31st of a month that has 30
                continue
            yield Mention("date", found[0], day.isoformat(), found.start(), found.end())


def money(text: str) -> Iterator[Mention]:
    """The key is the amount with two decimals and the currency's code."""
    for pattern in _MONEY:
        for found in pattern.finditer(text):
            currency = found["currency"]
            code = _CURRENCIES.get(currency.lower(), currency.upper())
            key = f"{_worth(found['amount']) * _factor(found['times']):.2f} {code}"
            yield Mention("money", found[0], key, found.start(), found.end())


def _worth(amount: str) -> float:
    """The last mark is the decimal one if at most two digits follow it."""
    whole, mark, rest = re.fullmatch(r"(.*?)(?:([.,])(\d{1,2}))?", amount).groups()  # type: ignore[union-attr]  # it matches anything
    return float(re.sub(r"\D", "", whole) + (f".{rest}" if mark else ""))


def _factor(times: str | None) -> float:
    if times is None:
        return 1.0
    return 1e9 if times.lower().startswith(("b", "mrd", "milliard")) else 1e6

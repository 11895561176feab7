"""What is known by its form: addresses, accounts, telephone numbers, and the numbers that offices give."""

from __future__ import annotations

import re
from collections.abc import Iterator

from towpath.search.records import Mention

_EMAIL = re.compile(r"(?<![\w.+-])[A-Za-z0-9][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])")
_URL = re.compile(r"(?<![\w@])(?:https?://|www\.)[^\s<>\"'“”»]{3,2000}", re.IGNORECASE)  # quotes as people write them
_AFTER_A_URL = ".,;:!?)]}"
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_PHONE = re.compile(
    r"(?<![\w+/.,-])(?:\+\d{1,3}[ -]?(?:\(\d{1,5}\)[ -]?)?|\(0\d{1,5}\)[ -]?|0\d{1,4}[ -/])"
    r"\d{1,12}(?:[ /-]\d{2,10}){0,5}(?![\w-]|[.,]\d)"
)
_REFERENCE = re.compile(r"(?<![\w/-])[A-Z]{1,5}[-/]\d[\dA-Z]*(?:[-/][\dA-Z]+){0,4}(?![\w/-]|[.,]\d)")


def emails(text: str) -> Iterator[Mention]:
    for found in _EMAIL.finditer(text):
        yield Mention("email", found[0], found[0].lower(), found.start(), found.end())


def urls(text: str) -> Iterator[Mention]:
    for found in _URL.finditer(text):
        value = found[0].rstrip(_AFTER_A_URL)
        key = re.sub(r"^https?://", "", value, flags=re.IGNORECASE).rstrip("/")
        host, slash, path = key.partition("/")
        yield Mention("url", value, host.lower() + slash + path, found.start(), found.start() + len(value))


def ibans(text: str) -> Iterator[Mention]:
    """Only with the right check digits. What follows may look like one more group, and is tried without."""
    for found in _IBAN.finditer(text):
        value = found[0]
        while value and not _checks(value):
            value = value.rpartition(" ")[0]
        if value:
            yield Mention("iban", value, value.replace(" ", ""), found.start(), found.start() + len(value))


def _checks(account: str) -> bool:
    digits = account.replace(" ", "")
    if not 15 <= len(digits) <= 34:
        return False
    return int("".join(str(int(letter, 36)) for letter in digits[4:] + digits[:4])) % 97 == 1


def phones(text: str) -> Iterator[Mention]:
    for found in _PHONE.finditer(text):
        digits = re.sub(r"\D", "", found[0])
        if 7 <= len(digits) <= 15:
            yield Mention("phone", found[0], ("+" if found[0][0] == "+" else "") + digits, found.start(), found.end())


def references(text: str) -> Iterator[Mention]:
    for found in _REFERENCE.finditer(text):
        if sum(letter.isdigit() for letter in found[0]) >= 3:
            yield Mention("reference", found[0], found[0], found.start(), found.end())

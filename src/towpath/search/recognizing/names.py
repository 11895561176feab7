"""Names of people and firms: capitals alone say too little, so a title or a firm's legal form has to stand beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from towpath.search.records import Mention
from towpath.search.words import folded

_CAPITAL = r"[^\W\d_a-zà-öø-ÿ]"
_NAME = rf"{_CAPITAL}[\w’'-]+"  # the apostrophe that typesetters use
_TITLE = (
    r"(?:Mr|Mrs|Ms|Miss|Dr|Professor|Prof|Sir|Dame|Herr|Frau|Hr|Fr|Mme|Mlle|Monsieur|Madame|Madam|M|Sig|Sra|Sr|Don|Doña"
    r"|Pr|Maître|Me)"
)
_MIDDLE = r"(?:van|von|de|der|den|del|da|di|la|le|dos|du) "
_PERSON = re.compile(rf"(?<![\w-])(?P<titles>(?:{_TITLE}\.? )+)(?P<name>{_NAME}(?: (?:{_MIDDLE})*{_NAME}){{0,2}})")
_FORM = (
    r"(?:Ltd|Limited|Inc|Incorporated|LLC|LLP|plc|PLC|Corp|Corporation|Co|GmbH|AG|KG|OHG|UG|SE|SA|SAS|SARL|SpA|S\.p\.A|Srl"
    r"|S\.L|S\.A|BV|NV|AB|AS|ASA|A/S|ApS|Oy|Oyj|SL|Lda|s\.r\.o|Sp\. z o\.o|Kft|Pty)"
)
_FIRM = re.compile(
    rf"(?<![\w-])(?P<name>{_NAME}(?: (?:(?:&|und|and|et|de|di) )?(?!{_FORM}(?!\w)){_NAME}){{0,4}})"
    rf" (?P<form>{_FORM})\.?(?!\w)"
)
_DOTTED = ("Inc", "Co", "Corp", "S.L", "S.A", "S.p.A", "s.r.o")
"""Forms that are written with a dot; behind another it ends the sentence."""
_NO_NAMES = frozenset({"Die", "Der", "Das", "The", "Our", "Your", "Le", "La", "Les", "Bei", "At", "From", "Contact", "Tell"})


def persons(text: str) -> Iterator[Mention]:
    """The key is the name without its titles."""
    for found in _PERSON.finditer(text):
        if found["titles"].strip() in ("M", "Me", "Fr", "Don", "Pr"):  # without a dot they are other words
            continue
        yield Mention("person", found[0], folded(found["name"]), found.start(), found.end())


def organisations(text: str) -> Iterator[Mention]:
    """The key is the name with its form, without dots."""
    for found in _FIRM.finditer(text):
        start, name = found.start(), found["name"]
        while name.partition(" ")[0] in _NO_NAMES:
            first, _, name = name.partition(" ")
            start += len(first) + 1
        if not name:
            continue
        end = found.end() if found["form"] in _DOTTED else found.end("form")
        value = text[start:end]
        yield Mention("organisation", value, folded(value.replace(".", "")), start, end)

"""What the process answered, believed no further than its shape: a document may have taken it over."""

from __future__ import annotations

import asyncio
import json
import struct
from dataclasses import dataclass
from typing import Any, cast, get_args

from towpath import ConfigurationError, plain_text
from towpath.extraction.contract import Extracted, Limits, Method, Page, Unit
from towpath.extraction.errors import WHYS, DocumentUnreadable, Why, no_sense, out_of_memory, too_much_text

_LONGEST_HEAD = 1024 * 1024
_LONGEST_TEXT = 2000
_PAGE = struct.Struct(">II")
_MOST_WARNINGS, _MOST_ITEMS = 50, 1000
_CONVERT = "save it anew where it comes from, or convert it"


@dataclass(frozen=True, slots=True)
class Answer:
    head: dict[str, Any]
    pages: tuple[Page, ...]

    @property
    def last(self) -> bool:
        """The process takes no other document."""
        return self.head.get("last") is not False


async def received(stream: asyncio.StreamReader, limits: Limits) -> Answer:
    """One answer. Raises IncompleteReadError if the process ends before."""
    [size] = struct.unpack(">I", await stream.readexactly(4))
    if size > _LONGEST_HEAD:
        raise no_sense()
    try:
        head = json.loads(await stream.readexactly(size))
    except (ValueError, RecursionError):
        raise no_sense() from None
    match head:
        case {"size": int(size)} if size >= 0:
            if size > limits.characters * 4 + limits.pages * _PAGE.size:
                raise too_much_text(limits)
            return Answer(head, _pages(await stream.readexactly(size), limits))
    raise no_sense()


def _pages(body: bytes, limits: Limits) -> tuple[Page, ...]:
    """Each after its number and its length."""
    pages: list[Page] = []
    at = 0
    while at < len(body):
        if len(pages) == limits.pages:
            raise too_much_text(limits)
        if len(body) - at < _PAGE.size:
            raise no_sense()
        number, size = _PAGE.unpack_from(body, at)
        at += _PAGE.size + size
        if at > len(body):
            raise no_sense()
        pages.append(Page(number, body[at - size : at].decode("utf-8", "replace").replace("\x00", "")))
    return tuple(pages)


def checked(head: dict[str, Any], limits: Limits) -> dict[str, Any]:
    """Raises what the process has to say against the document."""
    match head:
        case {"missing": str(what)}:
            raise ConfigurationError(f"documents cannot be read here ({_text(what)}); install towpath[documents]")
        case {"memory": True}:
            raise out_of_memory(limits)
        case {"refused": str(words), "why": str(why), "remedy": str(remedy)} if why in WHYS:
            raise DocumentUnreadable(_text(words), why=cast(Why, why), remedy=_text(remedy))
        case {"failed": str(words)}:
            raise DocumentUnreadable(f"the document cannot be read: {_text(words)}", why="crashed", remedy=_CONVERT)
    return head


def understood(answer: Answer, name: str, limits: Limits) -> Extracted:
    match checked(answer.head, limits):
        case {
            "kind": str(kind), "media_type": str(media_type), "unit": str(unit), "method": str(method),
            "engine": str(engine), "engine_version": str(version), "title": str() | None as title,
            "language": str() | None as language, "metadata": dict(metadata), "warnings": list(warnings),
            "walls": list(walls),
        } if unit in get_args(Unit) and method in get_args(Method):  # fmt: skip
            return Extracted(
                name, _text(kind), _text(media_type), _text(title) if title else None, _text(language) if language else None,
                cast(Unit, unit), answer.pages, cast(Method, method), _text(engine), _text(version), 0.0,
                {_text(str(key)): _value(value) for key, value in list(metadata.items())[:_MOST_ITEMS]},
                tuple(_text(str(warning)) for warning in warnings[:_MOST_WARNINGS]),
                tuple(_text(str(wall)) for wall in walls[:10]),
            )  # fmt: skip
    raise no_sense()


def pictures_of(answer: Answer) -> tuple[int, ...]:
    """The pages that have no text of their own."""
    found = answer.head.get("pictures")
    if not isinstance(found, list):
        return ()
    return tuple(number for number in found if isinstance(number, int) and not isinstance(number, bool) and number > 0)


def _value(given: object) -> object:
    if isinstance(given, list):
        return [_text(str(item)) for item in given[:_MOST_ITEMS]]
    return _text(str(given))


def _text(given: str) -> str:
    return plain_text(given, limit=_LONGEST_TEXT)

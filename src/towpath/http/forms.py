"""A form with a file in it (multipart/form-data), as browsers and curl send it: the file is stored while it arrives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from towpath.assets import Sender
from towpath.assets.new_asset import Stored
from towpath.assets.streamed import drop, store
from towpath.engine.app import App
from towpath.http.problem import Problem, invalid

FORM = "multipart/form-data"
_MOST_FIELDS = 50
_MOST_TEXT = 64 * 1024
_MOST_HEADER = 16 * 1024
_MOST_HEADERS = 20


@dataclass(frozen=True, slots=True)
class Form:
    """The file, of which the content has come, and the other fields as text."""

    file: Stored
    fields: dict[str, str]
    lists: dict[str, list[str]]
    """Fields whose names end in `[]`, which may come more than once."""


async def receive_form(
    app: App, request: Request, sender: Sender, *, kinds: Collection[str] | None, file: str = "file"
) -> Form:
    """Receives a request whose field `file` is a file. Raises `AssetRefused` or a problem; then nothing is left.

    The route tells the entrance that its body is streamed: see `http/bodies.py`.
    """
    reading = _Reading(request, file)
    found: list[Stored] = []
    try:
        async for name in reading.files():
            created_by = sender.account_id
            found.append(await store(app, sender.tenant, name, reading.pieces(), kinds=kinds, created_by=created_by))
            if len(found) > 1:
                raise invalid(file, "there is more than one file in this form", remedy="send each in a request of its own")
    except BaseException as error:
        for one in found:
            await drop(app, one)
        if isinstance(error, ClientDisconnect | FormParserError):
            raise _broken() from None
        raise
    if not found:
        raise invalid(file, "there is no file in this form", remedy=f"send it as the form's field {file!r}")
    return Form(found[0], reading.fields, reading.lists)


def _broken() -> Problem:
    return Problem(
        "invalid", 400, "the form ended before it was complete, or is none", remedy="send it again, as multipart/form-data"
    )  # fmt: skip


@dataclass(slots=True)
class _Part:
    headers: dict[str, str] = field(default_factory=dict)
    header_name: bytes = b""
    header_value: bytes = b""

    def named(self) -> tuple[str, str | None]:
        _, options = parse_options_header(self.headers.get("content-disposition", "").encode("latin-1"))
        name, file_name = options.get(b"name"), options.get(b"filename")
        return (name or b"").decode("utf-8", "replace"), None if file_name is None else file_name.decode("utf-8", "replace")


class _Reading:
    """Turns the parser's callbacks into something to wait for: what one chunk of the body gave is worked off in turn."""

    def __init__(self, request: Request, file: str) -> None:
        kind, options = parse_options_header(request.headers.get("content-type"))
        if kind != FORM.encode() or not options.get(b"boundary"):
            raise Problem("invalid", 415, "the body must be a form", remedy=f"send it as {FORM}")
        self._file, self._part, self._ended = file, _Part(), False
        self._body, self._found = request.stream(), list[tuple[str, Any]]()
        self._parser = MultipartParser(options[b"boundary"], self._callbacks(), max_size=float("inf"))
        self.fields: dict[str, str] = {}
        self.lists: dict[str, list[str]] = {}

    def _callbacks(self) -> Any:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._name,
            "on_header_value": self._value,
            "on_header_end": self._header,
            "on_headers_finished": lambda: self._found.append(("part", self._part)),
            "on_part_data": lambda data, start, end: self._found.append(("data", data[start:end])),
            "on_part_end": lambda: self._found.append(("end", None)),
            "on_end": self._end,
        }

    def _begin(self) -> None:
        self._part = _Part()

    def _name(self, data: bytes, start: int, end: int) -> None:
        self._part.header_name = self._grown(self._part.header_name, data[start:end])

    def _value(self, data: bytes, start: int, end: int) -> None:
        self._part.header_value = self._grown(self._part.header_value, data[start:end])

    def _grown(self, text: bytes, more: bytes) -> bytes:
        if len(text) + len(more) > _MOST_HEADER:
            raise FormParserError("a header of a part is too long")
        return text + more

    def _header(self) -> None:
        part = self._part
        if len(part.headers) >= _MOST_HEADERS:
            raise FormParserError("a part has too many headers")
        part.headers[part.header_name.decode("latin-1").lower()] = part.header_value.decode("latin-1")
        part.header_name = part.header_value = b""

    def _end(self) -> None:
        self._ended = True

    async def _next(self) -> tuple[str, Any] | None:
        while not self._found:
            chunk = await anext(self._body, b"")
            if not chunk and not self._ended:
                raise FormParserError("the form has no end")
            if not chunk:
                return None
            if not self._ended:  # what follows the end is nothing
                self._parser.write(chunk)
        return self._found.pop(0)

    async def files(self) -> AsyncIterator[str]:
        """The names of the form's files; `pieces` gives the content of the one at hand. Fields are collected on the way."""
        while (found := await self._next()) is not None:
            if found[0] != "part":
                continue
            name, file_name = found[1].named()
            if file_name is None:
                await self._collect(name)
            elif name == self._file:
                yield file_name
            else:
                raise invalid(name[:100], "is no field for a file", remedy=f"send the file as the field {self._file!r}")

    async def pieces(self) -> AsyncIterator[bytes]:
        while (found := await self._next()) is not None and found[0] == "data":
            yield found[1]

    async def _collect(self, name: str) -> None:
        value = b"".join([piece async for piece in self._bounded()])
        count = len(self.fields) + sum(map(len, self.lists.values()))
        if name in self.fields or count >= _MOST_FIELDS:
            raise invalid(name[:100], "there are too many fields, or this one twice")
        text = value.decode("utf-8", "replace")
        if name.endswith("[]"):
            self.lists.setdefault(name[:-2], []).append(text)
        else:
            self.fields[name] = text

    async def _bounded(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self.pieces():
            size += len(piece)
            if size > _MOST_TEXT:
                raise Problem("too_large", 413, f"a field of the form is longer than {_MOST_TEXT:,} bytes")
            yield piece

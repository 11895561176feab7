"""Strict JSON: what goes into the database must come out the same on every database and in every language."""

from __future__ import annotations

import dataclasses
import json
import math
import threading
from collections.abc import Iterable
from datetime import date, datetime
from enum import Enum
from typing import Any
from uuid import UUID

from pydantic_core import from_json

from towpath.core.errors import EncodingError

DEEPEST = 200
"""How many lists and objects may stand inside one another: what readers of JSON, ours and others, can be relied on to read
back."""
_BUILTIN = (str, int, float, bool, type(None))


def _extended(value: Any) -> Any:
    """Types people put into payloads without thinking; everything else is an error."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"a {type(value).__name__} has no JSON form")


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_extended)


class _Writer(threading.local):
    """The encoder's own C function, made once per thread: `JSONEncoder.encode` makes a new one for every value. It marks
    what it is inside of, so that a value which contains itself is noticed; threads must not see each other's marks."""

    def __init__(self) -> None:
        self._marks: dict[int, Any] = {}
        make = getattr(json.encoder, "c_make_encoder", None)
        text = json.encoder.encode_basestring
        self._chunks = make(self._marks, _extended, text, None, ":", ",", False, False, False) if make else None

    def write(self, value: Any) -> str:
        if self._chunks is None:  # an interpreter without it
            return _encoder.encode(value)
        try:
            return "".join(self._chunks(value, 0))
        except BaseException:
            self._marks.clear()
            raise


_writer = _Writer()


def encode(value: Any, *, what: str = "value") -> str:
    """JSON text of `value`, or EncodingError naming the path of what does not fit."""
    try:
        text = _writer.write(value)
        if not text.isascii():
            text.encode("utf-8")
    except (TypeError, ValueError, RecursionError, UnicodeEncodeError) as error:
        raise EncodingError(_explain(value, what, error)) from None
    if len(text) > DEEPEST and text.count("[") + text.count("{") > DEEPEST and _is_deep(text):
        raise EncodingError(_too_deep(what))
    return text


def _is_deep(text: str) -> bool:
    """Asks the reader itself, which takes one level more than we do."""
    try:
        from_json(f"[{text}]")
    except ValueError as error:
        return "recursion limit" in str(error)
    return False


def deeper_than(value: Any, levels: int) -> bool:
    """Whether JSON that has been read is nested more deeply than that. Without recursion, however deep it is."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        level = [inner for outer in level for inner in _items(outer) if isinstance(inner, dict | list)]
    return bool(level)


def _items(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def decode(text: str | bytes | None) -> Any:
    """The value that `encode` made this text of; None is None."""
    if text is None:
        return None
    try:
        return from_json(text)
    except ValueError:  # a lone surrogate, written by somebody's own SQL, is no reason to lose the value
        return json.loads(text)


def _explain(value: Any, what: str, error: Exception) -> str:
    if isinstance(error, RecursionError) or "Circular" in str(error):
        return _too_deep(what)
    path, reason = _find(value, "$") or ("$", str(error))
    return f"{what} cannot be written as JSON at {path}: {reason}"


def _too_deep(what: str) -> str:
    return f"{what} is nested more than {DEEPEST} levels deep or refers to itself; pass a flat structure or a blob key"


def _find(value: Any, path: str) -> tuple[str, str] | None:
    """The first spot that strict JSON refuses, for the error message only."""
    match value:
        case str():
            return _find_in_text(value, path)
        case float() if not math.isfinite(value):
            return path, f"{value} has no JSON form; use null or a string"
        case int() | float() | None:
            return None
        case dict():
            found = (_find_in_item(key, item, path) for key, item in value.items())
        case list() | tuple():
            found = (_find(item, f"{path}[{index}]") for index, item in enumerate(value))
        case _:
            return _find_in_other(value, path)
    return next((spot for spot in found if spot), None)


def _find_in_text(text: str, path: str) -> tuple[str, str] | None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return path, "the text has a lone surrogate; decode the source with errors='replace'"
    return None


def _find_in_item(key: Any, item: Any, path: str) -> tuple[str, str] | None:
    if not isinstance(key, _BUILTIN):
        return path, f"the key {key!r} is not a string"
    return _find(str(key), f"{path}.{key!r}") or _find(item, f"{path}.{key}")


def _find_in_other(value: Any, path: str) -> tuple[str, str] | None:
    try:
        return _find(_extended(value), path)
    except TypeError as error:
        return path, f"{error}; convert it first or store it with ctx.blobs and pass the key"


def plain(text: str, limit: int = 4000) -> str:
    """`text` as every database stores it: no NUL, no lone surrogates, not endless. For messages people read."""
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    if "\x00" in text:
        text = text.replace("\x00", "␀")
    return text.encode("utf-8", "replace").decode("utf-8")

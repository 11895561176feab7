"""What came back for the requests of one order: lines in the order of the requests, whatever order they came in."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator
from pathlib import Path
from typing import Any

from towpath import EncodingError, plain_text, to_json
from towpath.batches.scratch import TOGETHER, Scratch
from towpath.providers import Result

_LONGEST_ERROR, _LONGEST_CODE = 2000, 100
_MOST_TOKENS = 10**9
_SHALLOW = 190
"""Who has fewer brackets than that cannot be nested too deeply."""


class Unreadable(ValueError):
    """An answer came, and nothing can be made of it."""


def line_of(result: Result) -> tuple[int, str] | None:
    """A result as it is kept: by the number of its request. None if nobody asked for it."""
    number = result.ref.removeprefix("r")
    if number == result.ref or not (number.isascii() and number.isdigit()):
        return None
    told: dict[str, Any] = {
        "n": int(number), "tokens_in": _count(result.tokens_in), "tokens_out": _count(result.tokens_out),
    }  # fmt: skip
    if not result.ok:
        return int(number), to_json(told | {"error": error_of(result.error or "", result.code)})
    try:
        return int(number), _kept(told | {"response": result.body})
    except EncodingError:
        pass
    try:
        return int(number), to_json(told | {"response": readable(result.body)})
    except Unreadable as error:
        return int(number), to_json(told | {"error": error_of(str(error), "unreadable")})


def readable(body: Any) -> Any:
    """An answer as whoever reads the results can take it: strict JSON. It was paid for, so all of it that can be read is
    kept: what goes are half characters, and numbers that JSON does not have."""
    try:
        _kept(body)
        return body
    except EncodingError:
        pass
    try:
        text = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        mended = json.loads(text, parse_constant=lambda _: None)
        _kept(mended)
        return mended
    except EncodingError as error:
        why = str(error)
    except RecursionError:
        why = "it is nested too deeply"
    except (ValueError, TypeError) as error:
        why = str(error)
    raise Unreadable(f"its answer came, and cannot be read: {why}")


def _kept(value: Any) -> str:
    """Its JSON. It will stand in other values, and must not be too deep there either."""
    text = to_json(value)
    if text.count("[") + text.count("{") > _SHALLOW:
        to_json([[[[[value]]]]])
    return text


def _count(tokens: Any) -> int | None:
    """As far as it can be believed: what is nonsense is as if nobody had told it, and not added up."""
    return tokens if isinstance(tokens, int) and 0 <= tokens <= _MOST_TOKENS else None


def error_of(message: str, code: str | None = None) -> dict[str, str]:
    told = plain_text(message, _LONGEST_ERROR) or "no reason was given"
    return {"code": plain_text(code or "failed", _LONGEST_CODE), "message": told}


class Answers:
    """Sorted in a file. The first answer to a request counts: providers say some things twice."""

    def __init__(self, path: Path) -> None:
        self._found = Scratch(path)

    async def take(self, results: AsyncIterable[Result]) -> None:
        held: list[tuple[int, str]] = []
        async for result in results:
            line = line_of(result)
            if line is not None:
                held.append(line)
            if len(held) >= TOGETHER:
                self._found.add_all(held)
                held = []
        self._found.add_all(held)

    async def pieces(self) -> AsyncIterator[bytes]:
        for lines in self._found.lines():
            yield b"".join(line.encode() + b"\n" for line in lines)

    def close(self) -> None:
        self._found.close()

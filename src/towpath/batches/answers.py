"""What came back for the requests of one order: lines in the order of the requests, whatever order they came in."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator
from pathlib import Path
from typing import Any

from towpath import plain_text
from towpath.batches.scratch import TOGETHER, Scratch
from towpath.providers import Result

_LONGEST_ERROR = 2000


def line_of(result: Result) -> tuple[int, str] | None:
    """A result as it is kept: by the number of its request. None if nobody asked for it."""
    number = result.ref.removeprefix("r")
    if number == result.ref or not (number.isascii() and number.isdigit()):
        return None
    told: dict[str, Any] = {"n": int(number), "tokens_in": result.tokens_in, "tokens_out": result.tokens_out}
    if result.ok:
        told["response"] = result.body
    else:
        told["error"] = error_of(result.error or "", result.code)
    return int(number), json.dumps(told)


def error_of(message: str, code: str | None = None) -> dict[str, str]:
    return {"code": code or "failed", "message": plain_text(message, _LONGEST_ERROR) or "no reason was given"}


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

"""What came back for the requests of one order: lines in the order of the requests, whatever order they came in."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from towpath import plain_text
from towpath.providers import Result

_TOGETHER = 500
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
        self._found = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._found.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")
        self._found.execute("CREATE TABLE answer (n integer PRIMARY KEY, line text)")

    def add(self, lines: Iterable[tuple[int, str]]) -> None:
        self._found.executemany("INSERT OR IGNORE INTO answer VALUES (?, ?)", lines)

    async def take(self, results: AsyncIterable[Result]) -> None:
        held: list[tuple[int, str]] = []
        async for result in results:
            line = line_of(result)
            if line is not None:
                held.append(line)
            if len(held) >= _TOGETHER:
                self.add(held)
                held = []
        self.add(held)

    async def pieces(self) -> AsyncIterator[bytes]:
        with closing(self._found.execute("SELECT line FROM answer ORDER BY n")) as rows:
            while found := rows.fetchmany(_TOGETHER):
                yield b"".join(line.encode() + b"\n" for (line,) in found)

    def close(self) -> None:
        self._found.close()

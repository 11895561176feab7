"""A file that knows what it has been told, and sorts it: for more than memory should hold. It is nobody's record."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import cache
from importlib.resources import files
from pathlib import Path

TOGETHER = 500


@cache
def _statements() -> dict[str, str]:
    text = (files("towpath.batches") / "scratch.sql").read_text("utf-8")
    parts = [part.partition("\n") for part in text.split("-- name: ")[1:]]
    return {name.strip(): body.strip() for name, _, body in parts}


class Scratch:
    def __init__(self, path: Path) -> None:
        self._file = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._file.executescript(_statements()["open"])

    def add(self, key: str) -> bool:
        """Whether it is new."""
        return self._file.execute(_statements()["add"], (key, None)).rowcount > 0

    def add_all(self, lines: Iterable[tuple[int, str]]) -> None:
        """Of two with the same number the first one stays."""
        self._file.executemany(_statements()["add"], lines)

    def lines(self) -> Iterator[list[str]]:
        """In their order, some at a time."""
        with closing(self._file.execute(_statements()["sorted"])) as rows:
            while found := rows.fetchmany(TOGETHER):
                yield [line for (line,) in found]

    def close(self) -> None:
        self._file.close()

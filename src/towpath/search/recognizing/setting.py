"""A text as it was before somebody set it in lines: what is named does not depend on where a line ends.

PDFs have their lines broken where the page was full, in the middle of a name as well, and justified ones have two or three
blanks between words. A short line ends where its author ended it, such as in an address, and stays a line of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right

_FULL = 40
"""Characters of a line that may have been broken because the page was full."""
_GAP = re.compile(r"(?<=\S)(?:[ \t]{2,}|[ \t]*\n[ \t]*)(?=\S)")


class Unset:
    """`text` has one blank for every gap between words; `place` says where in the text that was given something stands."""

    def __init__(self, given: str) -> None:
        parts: list[str] = []
        self._here, self._there = [0], [0]
        last = written = 0
        for gap in _GAP.finditer(given):
            if "\n" in gap[0] and not _was_full(given, gap.start()):
                continue
            parts += [given[last : gap.start()], " "]
            written += gap.start() - last + 1
            last = gap.end()
            self._here.append(written)
            self._there.append(last)
        self.text = "".join([*parts, given[last:]])

    def place(self, at: int) -> int:
        nearest = bisect_right(self._here, at) - 1
        return self._there[nearest] + at - self._here[nearest]


def _was_full(text: str, end: int) -> bool:
    return end - (text.rfind("\n", 0, end) + 1) >= _FULL

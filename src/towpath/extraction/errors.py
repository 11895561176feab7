"""Why a document cannot be read. The same document will fail the same way, but for what is `Transient`.

DocumentUnreadable     the document is at fault, or asks for more than it may have
Transient              the process was killed from outside, or could not be started
ConfigurationError     what reads documents is not installed
"""

from __future__ import annotations

import signal
from typing import Literal, get_args

from towpath import SchemaInvalid, Transient
from towpath.extraction.contract import Limits

Why = Literal["empty", "unsupported", "encrypted", "damaged", "unsafe", "bomb", "too_large", "memory", "time", "crashed"]
"""In one word, to count by: `unsafe` leads out of itself, `bomb` unpacks to far more than it is, `too_large` has too much in
it, `memory` and `time` ran out, `crashed` broke the library down."""
WHYS: tuple[str, ...] = get_args(Why)
_OUT_OF_MEMORY = ("memory allocation of", "MemoryError", "bad_alloc", "Cannot allocate memory", "out of memory")


class DocumentUnreadable(SchemaInvalid):
    """Nothing of the document was kept. `why` says it in one word."""

    def __init__(self, message: str, *, why: Why, remedy: str | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.why: Why = why


def out_of_memory(limits: Limits) -> DocumentUnreadable:
    return DocumentUnreadable(
        f"reading the document needed more than {limits.memory_mb:,} MB of memory and was stopped", why="memory",
        remedy="cut it into parts, or raise TOWPATH_EXTRACT_MEMORY_MB",
    )  # fmt: skip


def out_of_time(limits: Limits) -> DocumentUnreadable:
    return DocumentUnreadable(
        f"reading the document took longer than {limits.seconds:g} s and was stopped", why="time",
        remedy="cut it into parts, or raise TOWPATH_EXTRACT_SECONDS",
    )  # fmt: skip


def too_much_text(limits: Limits) -> DocumentUnreadable:
    return DocumentUnreadable(
        f"the document has more than the {limits.characters:,} characters or {limits.pages:,} pages that are taken",
        why="too_large", remedy="cut it into parts",
    )  # fmt: skip


def no_sense() -> DocumentUnreadable:
    return DocumentUnreadable(
        "the process that reads documents answered nothing that makes sense over this one", why="crashed",
        remedy="save it anew where it comes from, or convert it",
    )  # fmt: skip


def died(code: int | None, said: str, limits: Limits) -> Exception:
    """What became of a process that ended before its answer; `said` are the last words it wrote."""
    if code == -signal.SIGXCPU:
        return out_of_time(limits)
    if code == -signal.SIGKILL:
        return Transient("the process that reads documents was killed from outside",
                         remedy="see whether the machine ran out of memory")  # fmt: skip
    if any(words in said for words in _OUT_OF_MEMORY):
        return out_of_memory(limits)
    how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    return DocumentUnreadable(
        f"the library broke down over this document ({how})", why="crashed",
        remedy="save it anew where it comes from, or convert it",
    )  # fmt: skip

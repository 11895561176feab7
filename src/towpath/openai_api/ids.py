"""Ids as OpenAI writes them, and ours: each can be told from the other, so nothing keeps a list of both.

file-<32 hex digits>           an uploaded file
file-output-…, file-error-…    what was answered in a batch, and what was not
batch_<32 hex digits>          a batch
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["input", "output", "error"]
_FILE = re.compile(r"file-(?:(output|error)-)?([0-9a-f]{32})")
_BATCH = re.compile(r"batch_([0-9a-f]{32})")


@dataclass(frozen=True, slots=True)
class FileRef:
    """`id` is an asset's, or that of the batch whose output or errors it is."""

    kind: Kind
    id: str

    def __str__(self) -> str:
        return f"file-{'' if self.kind == 'input' else self.kind + '-'}{self.id.replace('-', '')}"


def file_ref(text: str) -> FileRef | None:
    found = _FILE.fullmatch(text)
    if found is None:
        return None
    kind: Kind = "input" if found[1] is None else "output" if found[1] == "output" else "error"
    return FileRef(kind, _ours(found[2]))


def batch_name(batch_id: str) -> str:
    return f"batch_{batch_id.replace('-', '')}"


def batch_ref(text: str) -> str | None:
    found = _BATCH.fullmatch(text)
    return None if found is None else _ours(found[1])


def _ours(digits: str) -> str:
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

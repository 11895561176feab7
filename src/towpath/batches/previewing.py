"""The beginning of a batch's results, for people to look at."""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from towpath import BlobStore
from towpath.batches.lines import lines_of
from towpath.batches.names import results_key

MOST_READ = 8 * 1024 * 1024
"""Of the results; whoever wants more downloads them."""
LONGEST_TEXT = 2000


@dataclass(slots=True)
class Preview:
    lines: list[dict[str, Any]] = field(default_factory=list)
    more: bool = False
    """Whether there are lines that were not looked at."""


async def preview(blobs: BlobStore, batch_id: str, limit: int, *, failed: bool = False) -> Preview:
    """The first lines, or the first of those that have an error."""
    found, read = Preview(), 0
    async with aclosing(lines_of(blobs, results_key(batch_id))) as lines:
        async for line in lines:
            if len(found.lines) >= limit or read >= MOST_READ:
                found.more = True
                break
            read += len(line) + 1
            told = json.loads(line)
            if failed and told["error"] is None:
                continue
            text = told["text"] or _whole(told)
            found.lines.append(
                {name: told.get(name) for name in ("custom_id", "input", "name", "model", "error")}
                | {"text": text and text[:LONGEST_TEXT], "cut": text is not None and len(text) > LONGEST_TEXT}
            )
    return found


def _whole(told: dict[str, Any]) -> str | None:
    """Of a completion in which nothing was said, such as the call of a tool: the answer as it is."""
    if "custom_id" not in told or told["response"] is None:
        return told["text"]  # type: ignore[no-any-return]  # a line of our own
    return json.dumps(told["response"], ensure_ascii=False)

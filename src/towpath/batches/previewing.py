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
            text = told["text"] if "text" in told else text_of(told["response"])
            found.lines.append(
                {name: told.get(name) for name in ("custom_id", "input", "name", "model", "error")}
                | {"text": text and text[:LONGEST_TEXT], "cut": text is not None and len(text) > LONGEST_TEXT}
            )
    return found


def text_of(response: Any) -> str | None:
    """What the model said, out of an answer in any of the shapes that providers have; else all of it, as JSON."""
    if response is None:
        return None
    for read in (_told, _chat, _parts, _candidates):
        text = read(response)
        if text:
            return text
    return json.dumps(response, ensure_ascii=False)


def _told(response: Any) -> str | None:
    """`text`: from a batch provider, whose adapter has put it beside the answer."""
    text = _at(response, "text")
    return text if isinstance(text, str) and "raw" in response else None


def _chat(response: Any) -> str | None:
    """`choices[0].message.content`: OpenAI's, and of everybody who speaks like it."""
    found = _at(response, "choices", 0, "message", "content")
    return found if isinstance(found, str) else _texts(found)


def _parts(response: Any) -> str | None:
    """`content[].text`: Anthropic's."""
    return _texts(_at(response, "content"))


def _candidates(response: Any) -> str | None:
    """`candidates[0].content.parts[].text`: Google's."""
    return _texts(_at(response, "candidates", 0, "content", "parts"))


def _texts(parts: Any) -> str | None:
    if not isinstance(parts, list):
        return None
    return "".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _at(value: Any, *path: str | int) -> Any:
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and len(value) > step:
            value = value[step]
        else:
            return None
    return value

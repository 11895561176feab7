"""The results of a transcription: an entry for each input and model, and all of them as one document.

| provider | document |
|---|---|
| GOOGLE | `{model: {"transcriptions": […]}}` |
| the others | `{"transcriptions": […]}` |
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from towpath import BlobStore
from towpath.batches.lines import lines_of
from towpath.batches.names import LOCAL, results_key
from towpath.batches.records import Batch

BY_MODEL = frozenset({"GOOGLE"})
_PIECE = 256 * 1024


def entry_line(provider: str) -> Callable[[dict[str, Any], str | None, Any, Any], dict[str, Any]]:
    """How an entry is worded: the input as it may be shown, what was said, and the provider's own answer."""

    def line(asked: dict[str, Any], model: str | None, response: Any, error: Any) -> dict[str, Any]:
        said = None if response is None else text_of(provider, response)
        named = {name: asked[name] for name in ("input", "name") if name in asked}
        return named | {"model": model or None, "text": said, "response": response, "error": error}

    return line


def text_of(provider: str, response: Any) -> str:
    """What was said, out of a provider's answer; empty if it heard nothing, or says it in a way that is not known here."""
    try:
        return _TEXTS[provider](response) if provider in _TEXTS else str(response.get("text") or "")
    except (KeyError, TypeError, AttributeError, IndexError):
        return ""


def _azure(response: Any) -> str:
    return " ".join(one["display"] for one in response.get("combinedRecognizedPhrases") or [])


def _aws(response: Any) -> str:
    return " ".join(one["transcript"] for one in response["results"]["transcripts"])


def _google(response: Any) -> str:
    heard = [one["alternatives"][0]["transcript"] for one in response["results"] if one.get("alternatives")]
    return " ".join(part.strip() for part in heard)


def _sarvam(response: Any) -> str:
    return str(response.get("transcript") or "")


def _here(response: Any) -> str:
    return " ".join(one["text"] for one in response["segments"])


_TEXTS: dict[str, Callable[[Any], str]] = {
    "AZURE": _azure, "AWS": _aws, "GOOGLE": _google, "SARVAM": _sarvam, LOCAL: _here,
}  # fmt: skip


async def document(blobs: BlobStore, batch: Batch) -> AsyncGenerator[bytes, None]:
    """The entries as one JSON document, made of the lines as they are read."""
    if batch.provider not in BY_MODEL:
        async with aclosing(_listed(blobs, batch, None)) as pieces:
            async for piece in pieces:
                yield piece
        return
    for number, model in enumerate(batch.models):
        yield (", " if number else "{").encode() + json.dumps(model).encode() + b": "
        async with aclosing(_listed(blobs, batch, model)) as pieces:
            async for piece in pieces:
                yield piece
    yield b"}"


async def _listed(blobs: BlobStore, batch: Batch, model: str | None) -> AsyncGenerator[bytes, None]:
    """In the order of the inputs; `model` is None for all of them together."""
    held, first = bytearray(b'{"transcriptions": ['), True
    async with aclosing(lines_of(blobs, results_key(batch.id))) as lines:
        async for line in lines:
            told = line if model is None else _of_model(line, model)
            if told is not None:
                held += told if first else b",\n" + told
                first = False
            if len(held) >= _PIECE:
                yield bytes(held)
                held.clear()
    yield bytes(held) + b"]}"


def _of_model(line: bytes, model: str) -> bytes | None:
    """What could not be heard at all is every model's."""
    entry = json.loads(line)
    if entry["model"] not in (model, None):
        return None
    return json.dumps(entry | {"model": model}, ensure_ascii=False).encode("utf-8", "backslashreplace")

"""JSON lines, read and written a line at a time: an order may have more of them than fit in memory."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing
from typing import Any

from towpath.core.errors import SchemaInvalid, Transient
from towpath.providers.contract import Files

_LONGEST = 64 * 1024 * 1024


async def split(chunks: AsyncIterable[bytes]) -> AsyncGenerator[bytes, None]:
    """The lines that are not empty, without their ends. Only a line feed ends a line: texts contain everything else that
    Python or an HTTP client would take for one, such as U+2028."""
    begun: list[bytes] = []
    length = 0
    async for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        if whole:
            whole[0] = b"".join((*begun, whole[0]))
            begun, length = [], 0
        for line in whole:
            if line.strip():
                yield line
        begun.append(rest)
        length += len(rest)
        if length > _LONGEST:
            raise SchemaInvalid(f"a line is longer than {_LONGEST >> 20} MiB")
    if (last := b"".join(begun)).strip():
        yield last


async def objects(chunks: AsyncIterable[bytes], provider: str) -> AsyncGenerator[dict[str, Any], None]:
    """The results in a file of a provider's. A line that is no JSON is where the file has broken off."""
    async for line in split(chunks):
        try:
            value = json.loads(line)
        except ValueError:
            raise Transient(f"{provider}'s results break off in the middle of a line") from None
        if not isinstance(value, dict):
            raise Transient(f"{provider}'s results have a line that is no object")
        yield value


async def requests(files: Files, blob: str) -> AsyncGenerator[tuple[str, dict[str, Any]], None]:
    """Every `custom_id` and body of an order."""
    number = 0
    async with aclosing(files.open(blob)) as chunks:
        async for line in split(chunks):
            number += 1
            try:
                value = json.loads(line)
                ref, body = value["custom_id"], value["body"]
            except (ValueError, KeyError, TypeError):
                raise _misshapen(number) from None
            if not (isinstance(ref, str) and ref and isinstance(body, dict)):
                raise _misshapen(number)
            yield ref, body


def written(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _misshapen(number: int) -> SchemaInvalid:
    return SchemaInvalid(
        f'request {number} is no JSON object with a text as "custom_id" and an object as "body"',
        path=f"requests[{number - 1}]",
    )

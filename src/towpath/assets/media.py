"""Looking into audio and video, and decoding it, in a process that can do no harm: locked in, with limited memory and time.

A decoder is a large program that reads what strangers have made. Here it can at worst fail this one file.
"""

from __future__ import annotations

import asyncio
import struct
from contextlib import aclosing
from pathlib import Path
from typing import BinaryIO

from towpath.assets.answers import MediaInfo
from towpath.assets.decoding import BYTES_PER_SECOND, Decoding
from towpath.assets.limits import PROBING, Limits

_WAV_HEADER = 44


async def probe(path: Path, *, limits: Limits = PROBING) -> MediaInfo:
    """What a file says about itself; quick, and not to be believed. Raises `MediaUnreadable`."""
    looking = Decoding(path, limits, audio=False)
    async with aclosing(looking.pieces()) as pieces:
        async for _ in pieces:
            pass
    assert looking.info is not None
    return looking.info


async def decode(path: Path, target: Path, *, limits: Limits | None = None) -> MediaInfo:
    """Writes the first audio track to `target` as 16 kHz mono in 16 bits: raw, or with a header if it ends in `.wav`.

    The memory it takes does not depend on the length. Raises `MediaUnreadable`; then `target` is not there.
    """
    decoding = Decoding(path, limits or Limits())
    try:
        with target.open("wb") as output:
            header = _WAV_HEADER if target.suffix == ".wav" else 0
            output.write(bytes(header))
            async with aclosing(decoding.pieces()) as pieces:
                async for piece in pieces:
                    await asyncio.to_thread(output.write, piece)
            if header:
                _write_header(output)
    except BaseException:
        await asyncio.to_thread(target.unlink, missing_ok=True)
        raise
    assert decoding.info is not None
    return decoding.info


def _write_header(output: BinaryIO) -> None:
    size = min(output.tell() - _WAV_HEADER, 0xFFFFFFFF - 36)
    output.seek(0)
    output.write(
        struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", size + 36, b"WAVE", b"fmt ", 16, 1, 1, BYTES_PER_SECOND // 2,
                    BYTES_PER_SECOND, 2, 16, b"data", size)
    )  # fmt: skip

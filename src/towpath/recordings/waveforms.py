"""The waveform of a recording: how loud it is along its length, as players draw it.

It is taken from the decoded audio as it passes, a tenth of a second at a time, so that it costs no second decoding and no
memory to speak of, and is kept as one byte for each of at most two thousand equal stretches.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from towpath import App, Context, Transaction, assets
from towpath.recordings import stored
from towpath.recordings.audio import BYTES_PER_SAMPLE, RATE
from towpath.recordings.names import KIND, WAVEFORM
from towpath.recordings.records import Recording

if TYPE_CHECKING:
    import numpy as np

MOST = 2000
_STEP = RATE // 10
_LOUDEST = 32_768


class Peaks:
    """Takes decoded audio in pieces of any size; `bytes()` is the waveform of all that came."""

    def __init__(self) -> None:
        self._rest = b""
        self._found: list[np.ndarray] = []

    def add(self, piece: bytes) -> None:
        import numpy as np

        data = self._rest + piece
        whole = len(data) - len(data) % (_STEP * BYTES_PER_SAMPLE)
        self._rest = data[whole:]
        if whole:
            samples = np.frombuffer(data[:whole], dtype="<i2").reshape(-1, _STEP)
            self._found.append(_loudest(samples))

    def bytes(self) -> bytes:
        import numpy as np

        rest = self._rest[: len(self._rest) - len(self._rest) % BYTES_PER_SAMPLE]
        found = [*self._found, _loudest(np.frombuffer(rest, dtype="<i2").reshape(1, -1))] if rest else self._found
        if not found:
            return b""
        steps = np.concatenate(found)
        count = min(MOST, len(steps))
        begins = np.arange(count) * len(steps) // count
        return np.maximum.reduceat(steps, begins).astype(np.uint8).tobytes()


def _loudest(samples: np.ndarray) -> np.ndarray:
    """Of each row, from 0 to 255. Wider than 16 bits in between: the lowest sample has no positive counterpart."""
    import numpy as np

    found: np.ndarray = np.abs(samples.astype(np.int32)).max(axis=1) * 255 // _LOUDEST
    return found


async def passing(pieces: AsyncGenerator[bytes, None], peaks: Peaks) -> AsyncGenerator[bytes, None]:
    async with aclosing(pieces):
        async for piece in pieces:
            peaks.add(piece)
            yield piece


def as_text(peaks: bytes) -> str:
    return base64.b64encode(peaks).decode("ascii")


async def waveform_of(app: App, recording: Recording) -> str | None:
    """None until there is one; empty if there will be none."""
    rows = await app.query("recording_peaks", id=recording.id)
    return rows[0]["peaks"] if rows else None


async def ask_for(app: App, recording: Recording) -> None:
    """Has the waveform made of a recording that was decoded before there were any; once, however often it is asked for."""

    async def unit(tx: Transaction) -> None:
        await tx.enqueue(WAVEFORM, {"recording_id": recording.id}, tenant=recording.tenant, key=recording.id, priority=3)

    await app.transact(unit)


async def make_later(app: App, ctx: Context, payload: dict[str, Any]) -> int:
    """What `ask_for` asks for. A file that cannot be read any more gets an empty one, so that nobody asks again."""
    try:
        recording = await stored.find(ctx, payload["recording_id"], tenant=ctx.tenant)
    except stored.RecordingNotFound:
        return 0
    peaks = Peaks()
    try:
        asset = await assets.get(app, recording.tenant, recording.asset_id)
        async with assets.open_file(app, asset) as path, aclosing(assets.Decoding(path, assets.Limits()).pieces()) as pieces:
            async for piece in pieces:
                peaks.add(piece)
    except (assets.AssetNotFound, assets.MediaUnreadable):
        peaks = Peaks()
    text = as_text(peaks.bytes())

    async def unit(tx: Transaction) -> None:
        await tx.change("recording_has_peaks", id=recording.id, peaks=text)
        await tx.tell(KIND, recording.id, tenant=recording.tenant)

    await ctx.transact(unit)
    return len(text)

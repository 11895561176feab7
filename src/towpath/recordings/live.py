"""Lines of a recording that is being heard for the first time: they are there to be read and corrected as soon as their
window was heard, and give way to the transcript when that is whole.

A line's number is the millisecond at which it begins, since windows are not heard in order. What somebody corrects goes over
to the transcript like a correction of an older one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from towpath import Context, Transaction, plain_text, to_json
from towpath.recordings.names import KIND

LONGEST_LINE = 20_000


async def begin(ctx: Context, recording_id: str, engine: str, language: str | None) -> bool:
    """Whether its lines are shown as they come: a recording that has a transcript keeps it until the new one is there."""

    async def unit(tx: Transaction) -> bool:
        return await tx.change(
            "transcript_begin", id=ctx.id, recording_id=recording_id, engine=engine, language=language, now=tx.now
        ) > 0 or bool(await tx.query("transcript_is_growing", id=ctx.id))  # fmt: skip

    return await ctx.transact(unit)


async def add(
    ctx: Context, transcript_id: str, recording_id: str, heard: Sequence[Sequence[Any]], window: tuple[float, float]
) -> None:
    """What was heard in a window. Heard again, it is said again: what somebody has corrected meanwhile stays."""
    lines = _numbered(heard)

    async def unit(tx: Transaction) -> None:
        if not await tx.query("transcript_is_growing", id=transcript_id):
            return
        await tx.change("growing_lines_forget", id=transcript_id, start=window[0], end=window[1])
        await tx.change("transcript_lines_add", id=transcript_id, lines=to_json(lines))
        await tx.tell(KIND, recording_id)

    if lines:
        await ctx.transact(unit)


def _numbered(heard: Sequence[Sequence[Any]]) -> list[list[Any]]:
    found: list[list[Any]] = []
    for start, end, _, text, *_ in heard:
        number = max(round(start * 1000), found[-1][0] + 1 if found else 0)
        found.append([number, start, end, None, plain_text(text, LONGEST_LINE), None])
    return found

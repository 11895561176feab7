"""Transcripts in the index: found by words and by meaning, and a hit opens the recording at its second.

The row says whether the index has what the transcript and the title say. Whoever changes one of them takes that back and
queues a job in the same commit (`stored.outdated`); what nobody queued, such as recordings of before there was an index, is
looked for now and then. The index is written in the commit that says so, under the lock that every change of a recording
takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from towpath import App, Context, Reading, RetryLater, Transaction, search
from towpath.recordings.names import KIND
from towpath.recordings.records import Line, Recording, line_from, recording_from
from towpath.recordings.stored import Source, by_ids, lines_of

TYPE = "recording"
"""As what kind of thing searches may ask for it."""
_LOOKS = 5
_LATER = 2.0
_BATCH = 50


@dataclass(slots=True)
class Asked:
    """The payload of recordings.index. Without recordings it is all of which the index does not have what they say."""

    recordings: list[str] | None = None


@dataclass(frozen=True, slots=True)
class _Text:
    recording: Recording
    lines: list[Line]

    @property
    def said(self) -> tuple[Any, ...]:
        """What the index has of it."""
        return (self.recording.title, self.recording.transcript_id, [line.text for line in self.lines])


async def forgotten(tx: Transaction, tenant: str, ids: Sequence[str]) -> None:
    for recording_id in ids:
        await search.remove(tx, tenant, KIND, recording_id)


async def index_all(app: App, ctx: Context, asked: Asked) -> int:
    """The operation; answers how many were put into the index."""
    if not search.is_installed():
        return 0
    if asked.recordings is not None:
        for recording_id in asked.recordings:
            await index(app, ctx, recording_id)
        return len(asked.recordings)
    done, after = 0, ""
    while rows := await ctx.query("recordings_not_indexed", after=after, limit=_BATCH):
        for row in rows:
            await index(app, ctx, row["id"])
            done += 1
            await ctx.progress(done)
        after = rows[-1]["id"]
    return done


async def index(app: App, source: Source, recording_id: str) -> None:
    """Puts a recording into the index as it is. What its passages mean is worked out before the commit, and again if
    somebody has changed a line meanwhile."""
    for _ in range(_LOOKS):
        found = await _read(source, recording_id)
        if found is None:
            return
        passages = await asyncio.to_thread(_passages, found.lines)
        vectors = await search.meanings(app, [passage.text for passage in passages])
        if await source.transact(lambda tx, f=found, p=passages, v=vectors: _put(tx, f, p, v)):  # type: ignore[misc]  # binds the loop's
            return
    raise RetryLater(f"the recording {recording_id} is being changed over and over", _LATER)


async def _read(source: Source, recording_id: str) -> _Text | None:
    """None if there is nothing to do: it is gone, says nothing yet, or is in the index as it is."""
    wanted = [row["id"] for row in await source.query("recording_to_index", id=recording_id)]
    recording = next(iter(await by_ids(source, wanted)), None)
    if recording is None or recording.transcript_id is None:
        return None
    return _Text(recording, await lines_of(source, recording.transcript_id))


def _passages(lines: Sequence[Line]) -> list[search.Passage]:
    return search.passages_of_lines([search.Line(line.text, line.start, line.end) for line in lines])


async def _put(tx: Transaction, found: _Text, passages: Sequence[search.Passage], vectors: search.Vectors | None) -> bool:
    """False if it says something else by now. Who has removed it has taken it out of the index, too."""
    recording = found.recording
    rows = await tx.query("recording_lock", id=recording.id)
    if not rows:
        return True
    now = await _locked(tx, recording_from(rows[0]))
    if now.said != found.said:
        return False
    source = search.Source(
        recording.tenant, KIND, recording.id, title=recording.title, language=recording.language, tags=[f"type:{TYPE}"],
        facts={"kind": TYPE},
    )  # fmt: skip
    await search.replace(tx, source, passages, vectors)
    await tx.change("recording_is_indexed", id=recording.id)
    return True


async def _locked(now: Reading, recording: Recording) -> _Text:
    rows = await now.query("transcript_lines", id=recording.transcript_id)
    return _Text(recording, [line_from(row) for row in rows])

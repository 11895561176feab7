"""What somebody makes of a line: its words, and who says it. Also of one that is still being heard."""

from __future__ import annotations

from dataclasses import dataclass

from towpath import Transaction
from towpath.recordings.records import Line, Recording, Transcript, line_from, recording_from
from towpath.recordings.speakers import assign
from towpath.recordings.stored import Source, outdated


@dataclass(frozen=True, slots=True)
class Correction:
    """`text` is None to bring back what was heard; `speaker` is a name, or None to bring back who was."""

    by: str
    text: str | None = None
    speaker: str | None = None
    of_text: bool = False
    of_speaker: bool = False
    was: str | None = None
    """What the line said when it was read."""


async def correct(source: Source, transcript: Transcript, number: int, wish: Correction) -> Line | None:
    """The line as it is then; None if another transcript has taken the place of this one meanwhile, or the line does not say
    any more what it `was` when it was read."""

    async def unit(tx: Transaction) -> Line | None:
        rows = await tx.query("recording_lock", id=transcript.recording_id)  # nobody replaces it in between
        if not rows or recording_from(rows[0]).transcript_id not in (None, transcript.id):
            return None
        line = await _line(tx, transcript, number)
        if line is None or (wish.was is not None and line.text != wish.was):
            return None
        await _put(tx, recording_from(rows[0]), transcript, line, wish)
        return await _line(tx, transcript, number)

    return await source.transact(unit)


async def _line(tx: Transaction, transcript: Transcript, number: int) -> Line | None:
    found = await tx.query("transcript_line", id=transcript.id, number=number)
    return line_from(found[0]) if found else None


async def _put(tx: Transaction, recording: Recording, transcript: Transcript, line: Line, wish: Correction) -> None:
    edited, who = line.edited, line.who
    if wish.of_text:
        edited = None if wish.text in (None, line.heard) else wish.text
    if wish.of_speaker:
        named = (wish.speaker or "").strip()
        who = await assign(tx, recording.id, transcript.id, named, wish.by) if named else line.speaker_heard
    changed = {"edited": edited, "speaker": who, "edited_by": wish.by}
    await tx.change("transcript_line_edit", id=transcript.id, number=line.number, **changed)
    if recording.transcript_id is not None and edited != line.edited:
        await outdated(tx, recording)

"""Who speaks in a recording, and what people say of that: a name, that two are one, that one is two, who says a line."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from towpath import Reading, SchemaInvalid, Transaction
from towpath.models.voices.linking import divided
from towpath.recordings.names import KIND
from towpath.recordings.records import Line, Recording, Speaker, Transcript, line_from, recording_from
from towpath.recordings.stored import Source

T = TypeVar("T")
_FEWEST = 2


class TranscriptReplaced(Exception):
    """A newer transcript has taken the place of the one that was read."""


class NoSuchSpeaker(LookupError):
    """Nobody of this number speaks in the transcript."""


@dataclass(frozen=True, slots=True)
class _Cast:
    """Everybody who speaks, read under the recording's lock."""

    recording: Recording
    transcript: str
    lines: list[Line]
    speakers: list[Speaker]

    def one(self, number: int) -> Speaker:
        for speaker in self.speakers:
            if speaker.number == number and speaker.lines:
                return speaker
        raise NoSuchSpeaker(f"nobody with the number {number} speaks in this transcript")

    def called(self, name: str) -> Speaker | None:
        wanted = name.casefold()
        return next((one for one in self.speakers if one.shown.casefold() == wanted), None)

    @property
    def unused(self) -> int:
        return _unused(self.speakers)


def _unused(speakers: Sequence[Speaker]) -> int:
    return max((one.number for one in speakers), default=0) + 1


async def speakers_of(source: Source, recording: Recording, lines: Sequence[Line]) -> list[Speaker]:
    """Those of these lines, in the order of their numbers."""
    said = await source.query("speakers_said", recording_id=recording.id)
    return [speaker for speaker in _speakers(lines, said) if speaker.lines]


def _speakers(lines: Sequence[Line], said: Sequence[Any]) -> list[Speaker]:
    names = {row["number"]: row["name"] for row in said}
    spoken: dict[int, list[Line]] = {number: [] for number in names}
    for line in lines:
        if line.who is not None:
            spoken.setdefault(line.who, []).append(line)
    return [
        Speaker(number, names.get(number), number in names, len(of), round(sum(line.end - line.start for line in of), 3))
        for number, of in sorted(spoken.items())
    ]


async def rename(source: Source, transcript: Transcript, number: int, name: str | None, by: str) -> None:
    """From then on this is their name in every line, and in transcripts to come."""

    async def unit(tx: Transaction, cast: _Cast) -> None:
        cast.one(number)
        other = cast.called(name) if name else None
        if other is not None and other.number != number and other.lines:
            raise SchemaInvalid(
                f"{other.shown!r} speaks here already", path="name", remedy="merge the two if they are one person"
            )
        await tx.change("speaker_say", recording_id=cast.recording.id, number=number, name=name, by=by)

    await _changed(source, transcript, unit)


async def merge(source: Source, transcript: Transcript, number: int, into: int, by: str) -> None:
    """Everything that one is taken to say is said by the other from then on."""

    async def unit(tx: Transaction, cast: _Cast) -> None:
        one, other = cast.one(number), cast.one(into)
        if one.number == other.number:
            raise SchemaInvalid("they are one speaker already", path="into", remedy="name another speaker")
        await tx.change("lines_of_speaker_move", id=cast.transcript, speaker=number, into=into)
        if other.name is None and one.name is not None:
            await tx.change("speaker_say", recording_id=cast.recording.id, number=into, name=one.name, by=by)
        await tx.change("speaker_touch", recording_id=cast.recording.id, number=into, by=by)
        await tx.change("speaker_forget", recording_id=cast.recording.id, number=number)

    await _changed(source, transcript, unit)


async def split(source: Source, transcript: Transcript, number: int, lines: Sequence[int] | None, by: str) -> int:
    """Makes a new speaker of these lines, or without any of those that sound most unlike the rest; answers its number."""

    async def unit(tx: Transaction, cast: _Cast) -> int:
        cast.one(number)
        theirs = {line.number for line in cast.lines if line.who == number}
        chosen = await _by_voice(tx, cast, number) if lines is None else sorted(theirs & set(lines))
        if not chosen or len(chosen) == len(theirs):
            raise SchemaInvalid(
                "a speaker is divided into those lines and some others", path="lines",
                remedy="choose some of the speaker's lines, but not all",
            )  # fmt: skip
        new = cast.unused
        await tx.change("lines_move", id=cast.transcript, numbers=chosen, into=new)
        for one in (number, new):
            await tx.change("speaker_touch", recording_id=cast.recording.id, number=one, by=by)
        return new

    return await _changed(source, transcript, unit)


async def _by_voice(tx: Reading, cast: _Cast, number: int) -> list[int]:
    rows = [row for row in await tx.query("line_places", id=cast.transcript, speaker=number) if row["place"]]
    if len(rows) < _FEWEST:
        raise SchemaInvalid(
            "there are no voice prints of these lines to divide them by", path="lines",
            remedy="choose the lines that somebody else says, or transcribe the recording again with speakers told apart",
        )  # fmt: skip
    sides = divided([row["place"] for row in rows])
    return [row["number"] for row, other in zip(rows, sides, strict=True) if other]


async def assign(tx: Transaction, recording_id: str, transcript: str, name: str, by: str) -> int:
    """The number of the speaker who is called so; somebody new if nobody is. Within the lock of whoever calls it."""
    rows = await tx.query("transcript_lines", id=transcript)
    speakers = _speakers([line_from(row) for row in rows], await tx.query("speakers_said", recording_id=recording_id))
    wanted = name.casefold()
    found = next((one for one in speakers if one.shown.casefold() == wanted), None)
    if found is not None:
        await tx.change("speaker_touch", recording_id=recording_id, number=found.number, by=by)
        return found.number
    new = _unused(speakers)
    named = None if wanted == Speaker(new, None, said=True).shown.casefold() else name
    await tx.change("speaker_say", recording_id=recording_id, number=new, name=named, by=by)
    return new


async def _changed(
    source: Source, transcript: Transcript, change: Callable[[Transaction, _Cast], Coroutine[Any, Any, T]]
) -> T:
    """Under the recording's lock, if the transcript is still the one that was read."""

    async def unit(tx: Transaction) -> T:
        rows = await tx.query("recording_lock", id=transcript.recording_id)
        if not rows or recording_from(rows[0]).transcript_id not in (None, transcript.id):
            raise TranscriptReplaced
        recording = recording_from(rows[0])
        lines = [line_from(row) for row in await tx.query("transcript_lines", id=transcript.id)]
        said = await tx.query("speakers_said", recording_id=recording.id)
        answer = await change(tx, _Cast(recording, transcript.id, lines, _speakers(lines, said)))
        await tx.tell(KIND, recording.id, tenant=recording.tenant)
        return answer

    return await source.transact(unit)

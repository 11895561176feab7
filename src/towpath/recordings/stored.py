"""Recordings as they are stored: looking them up, renaming them, reading and editing their lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from towpath import App, Context, Job, Reading, TowpathError, Transaction, plain_text
from towpath.http.shapes import LAST
from towpath.recordings.names import INDEX, KIND
from towpath.recordings.records import (
    Edit,
    Line,
    Recording,
    Summary,
    Transcript,
    edit_from,
    line_from,
    recording_from,
    summary_from,
    transcript_from,
)

Source = App | Context
"""Whoever reads and writes: an app, or a running operation, whose writes are fenced."""
LONGEST_TITLE = 300


class RecordingNotFound(TowpathError, LookupError):
    """No recording has this id, or it belongs to somebody else."""


@dataclass(slots=True)
class Work:
    """A recording with the jobs that worked on it, as far as they are still there, oldest first."""

    recording: Recording
    jobs: list[Job]


def title_from(text: str | None, file_name: str) -> str:
    """A title as people gave it, or the file's name without its ending; one line of storable text in any case."""
    given = " ".join(plain_text(text or "", LONGEST_TITLE * 4).split())
    stem = file_name.rsplit(".", 1)[0] if "." in file_name[1:] else file_name
    return (given or " ".join(plain_text(stem).split()) or "untitled")[:LONGEST_TITLE]


async def find(source: Source, recording_id: str, *, tenant: str | None = None) -> Recording:
    """The recording, if there is one and it is this tenant's; `tenant=None` is for those who may see all."""
    found = await by_ids(source, [recording_id])
    if not found or (tenant is not None and found[0].tenant != tenant):
        raise RecordingNotFound(f"no recording has the id {recording_id[:100]!r}; it may have been deleted")
    return found[0]


async def by_ids(source: Source, ids: Iterable[str]) -> list[Recording]:
    asked = list(dict.fromkeys(ids))
    if not asked:
        return []
    return [recording_from(row) for row in await source.query("recordings_by_id", ids=asked)]


@dataclass(frozen=True, slots=True)
class Sort:
    """Which ones: a part of the title, and tags by their keys, all of which have to be there."""

    text: str | None = None
    tags: Sequence[str] = ()


async def page(source: Source, tenant: str | None, sort: Sort, *, before: str | None, limit: int) -> list[Recording]:
    """Newest first; `before` is the last id of the page before. `tenant=None` is all of them."""
    like = None if sort.text is None else f"%{_escaped(sort.text.lower())}%"

    async def unit(tx: Reading) -> list[Recording]:
        asked = {"before": before or LAST, "text": like, "limit": limit, "tags": list(sort.tags), "tagged": len(sort.tags)}
        rows = (
            await tx.query("recordings_page_of_all", **asked)
            if tenant is None
            else await tx.query("recordings_page", tenant=tenant, **asked)
        )
        return [recording_from(row) for row in rows]

    return await source.read(unit)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


async def work_on(source: App, recordings: Sequence[Recording]) -> list[Work]:
    """The recordings with their jobs, in the same order."""
    jobs = await source.subjects.jobs(KIND, [recording.id for recording in recordings])
    return [Work(one, jobs[one.id]) for one in recordings]


async def rename(source: Source, recording: Recording, title: str) -> None:
    async def unit(tx: Transaction) -> None:
        if not await tx.change("recording_rename", id=recording.id, title=title):
            raise RecordingNotFound(f"no recording has the id {recording.id!r}; it may have been deleted")
        await outdated(tx, recording)
        await tx.tell(KIND, recording.id, tenant=recording.tenant)

    await source.transact(unit)


async def outdated(tx: Transaction, recording: Recording) -> None:
    """What the index says of it does not hold from this commit on, and a job is on its way to put that right."""
    await tx.change("recording_not_indexed", id=recording.id)
    await tx.enqueue(INDEX, {"recordings": [recording.id]}, tenant=recording.tenant)


async def transcript_of(source: Source, recording: Recording) -> Transcript | None:
    if recording.transcript_id is None:
        return None
    rows = await source.query("transcript_by_id", id=recording.transcript_id)
    return transcript_from(rows[0]) if rows else None


async def text_of(source: Source, recording: Recording) -> tuple[Transcript, list[Line]] | None:
    """The transcript with its lines; of a recording that has none yet, what was heard so far. None if nothing was."""
    found = await transcript_of(source, recording)
    if found is None:
        rows = await source.query("transcript_growing", recording_id=recording.id)
        found = transcript_from(rows[0]) if rows else None
    return None if found is None else (found, await lines_of(source, found.id))


async def lines_of(source: Source, transcript_id: str) -> list[Line]:
    return [line_from(row) for row in await source.query("transcript_lines", id=transcript_id)]


async def summary_of(source: Source, recording: Recording) -> Summary | None:
    if recording.summary_id is None:
        return None
    rows = await source.query("summary_by_id", id=recording.summary_id)
    return summary_from(rows[0]) if rows else None


async def unplaced_edits(source: Source, recording: Recording) -> list[Edit]:
    """What people had corrected in lines that the present transcript does not have."""
    rows = await source.query("unplaced_edits", recording_id=recording.id)
    return [edit_from(row) for row in rows]


async def dismiss_edit(source: Source, recording: Recording, edit_id: str) -> bool:
    return await source.transact(lambda tx: tx.change("unplaced_edit_delete", recording_id=recording.id, id=edit_id)) > 0


def matching(lines: Iterable[Line], text: str | None) -> list[Line]:
    """Lines that have the text in them, however it is capitalised, in any script."""
    if not text:
        return list(lines)
    wanted = text.casefold()
    return [line for line in lines if wanted in line.text.casefold()]

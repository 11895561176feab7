"""New recordings: the recording, its job and their connection come to be in one transaction, or none of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from towpath.assets import Asset, open_file
from towpath.core.ids import uuid7
from towpath.core.records import DEFAULT_PRIORITY, NewJob
from towpath.engine.app import App
from towpath.engine.services import Services
from towpath.models.speech import check_language
from towpath.recordings import lengths
from towpath.recordings.keeping import RecordingNotFound, title_from
from towpath.recordings.names import REPROCESS_SUMMARY, REPROCESS_TRANSCRIPTION, TRANSCRIBE, TRANSCRIPTION_QUEUE
from towpath.recordings.records import Recording, recording_from
from towpath.store.contract import Tx

_LONGEST_LANE = 500


@dataclass(frozen=True, slots=True)
class Options:
    """What an upload may say about itself; None is: as the settings say, or as the engine finds."""

    title: str | None = None
    language: str | None = None
    speakers: bool = False
    auto_summary: bool | None = None
    priority: int = DEFAULT_PRIORITY
    replace_edits: bool = False
    """Of a reprocessing: whether what people corrected is dropped instead of taken over."""


@dataclass(frozen=True, slots=True)
class Uploader:
    """Whose it is. Without an account it is everybody's in the tenant, as from the command line."""

    tenant: str
    account_id: str | None = None
    name: str | None = None

    @property
    def lane(self) -> str:
        """Fair turns are taken by person, not only by tenant."""
        return self.tenant if self.name is None else f"{self.tenant}/{self.name}"[:_LONGEST_LANE]


def checked(app: App, options: Options) -> Options:
    """The options with the language as engines take it; refused before anything is stored or queued."""
    language = check_language(app.settings, options.language or None)
    summary = app.settings.auto_summary if options.auto_summary is None else options.auto_summary
    return replace(options, language=language, auto_summary=summary)


async def create(app: App, asset: Asset, options: Options, whose: Uploader) -> tuple[str, str]:
    """Makes the recording of an asset and queues it; answers the ids of the recording and its job.

    The same asset again gives the same recording: an upload that reports its end twice is one recording.
    """
    wanted = checked(app, options)
    await ensure_lane(app, whose.lane)
    number, stated = uuid7(), await _stated(app, asset)
    job = _job(app.services, TRANSCRIBE, number, whose.tenant, whose.lane, wanted)

    async def unit(tx: Tx) -> tuple[str, str]:
        if known := await tx.fetch("recording_by_asset", asset_id=asset.id, tenant=whose.tenant):
            rows = await tx.fetch("recording_jobs", ids=[known[0]["id"]])
            return known[0]["id"], str(rows[0]["job_id"]) if rows else ""
        await tx.execute(
            "recording_add", id=number, tenant=whose.tenant, lane=whose.lane, title=title_from(wanted.title, asset.name),
            file_name=asset.name, asset_id=asset.id, media_type=asset.media_type, bytes=asset.bytes,
            language=wanted.language, speakers=wanted.speakers, auto_summary=wanted.auto_summary,
            created_by=whose.account_id, creator=whose.name, now=tx.now, stated=stated,
        )  # fmt: skip
        return number, await _queue(tx, job, number, is_new_upload=True)

    return await app.services.store.run(unit)


async def _stated(app: App, asset: Asset) -> float | None:
    async with open_file(app, asset) as path:
        return await asyncio.to_thread(lengths.stated, path)


async def reprocess_transcription(app: App, recording: Recording, options: Options) -> str:
    """Transcribes it anew with other settings; the present transcript stays until the new one is there."""
    wanted = checked(app, options)
    await ensure_lane(app, recording.lane)
    job = _job(app.services, REPROCESS_TRANSCRIPTION, recording.id, recording.tenant, recording.lane, wanted)

    async def unit(tx: Tx) -> str:
        await _locked(tx, recording.id)
        await tx.execute(
            "recording_settings", id=recording.id, language=wanted.language, speakers=wanted.speakers,
            auto_summary=wanted.auto_summary,
        )  # fmt: skip
        return await _queue(tx, job, recording.id)

    return await app.services.store.run(unit)


async def reprocess_summary(app: App, recording: Recording, priority: int = DEFAULT_PRIORITY) -> str:
    """Summarises it anew; the present summary stays until the new one is there."""
    job = summary_job(app.services, recording, REPROCESS_SUMMARY, priority)

    async def unit(tx: Tx) -> str:
        await _locked(tx, recording.id)
        return await _queue(tx, job, recording.id)

    return await app.services.store.run(unit)


def summary_job(services: Services, recording: Recording, kind: str, priority: int) -> NewJob:
    """One at a time for a recording: asking again while one waits or runs gives that one."""
    return services.new_job(
        kind, {"recording_id": recording.id}, tenant=recording.tenant, lane=recording.lane, priority=priority,
        key=recording.id,
    )  # fmt: skip


def _job(services: Services, kind: str, recording_id: str, tenant: str, lane: str, options: Options) -> NewJob:
    payload = {"recording_id": recording_id, "language": options.language, "speakers": options.speakers}
    payload |= {"auto_summary": options.auto_summary, "replace_edits": options.replace_edits}
    return services.new_job(kind, payload, tenant=tenant, lane=lane, priority=options.priority, key=recording_id)


async def _locked(tx: Tx, recording_id: str) -> Recording:
    rows = await tx.fetch("recording_lock", id=recording_id)
    if not rows:
        raise RecordingNotFound(f"no recording has the id {recording_id!r}; it may have been deleted")
    return recording_from(rows[0])


async def _queue(tx: Tx, job: NewJob, recording_id: str, *, is_new_upload: bool = False) -> str:
    [made] = await tx.insert_jobs([job])
    await connect(tx, made.id, recording_id, job, is_new_upload=is_new_upload)
    return made.id


async def connect(tx: Tx, job_id: str, recording_id: str, job: NewJob, *, is_new_upload: bool = False) -> None:
    await tx.execute(
        "recording_job_add", job_id=job_id, recording_id=recording_id, tenant=job.tenant, kind=job.operation,
        is_new_upload=is_new_upload, now=tx.now,
    )  # fmt: skip


async def ensure_lane(app: App, lane: str) -> None:
    """Caps how many recordings of a person are open, once; what an administrator has set since stays."""
    most = app.settings.open_recordings_per_user
    if most == 0:
        return
    known = await app.services.store.read(lambda tx: tx.fetch("recording_lane_known", queue=TRANSCRIPTION_QUEUE, lane=lane))
    if not known:
        await app.queues.lane(TRANSCRIPTION_QUEUE, lane, max_roots=most)

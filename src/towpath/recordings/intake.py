"""New recordings: the recording, its job and their connection come to be in one transaction, or none of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from towpath import DEFAULT_PRIORITY, App, Transaction, Transient, choices, new_id
from towpath.assets import Asset, open_file
from towpath.recordings import lengths, templates
from towpath.recordings.names import (
    KIND,
    REPROCESS_SUMMARY,
    REPROCESS_TRANSCRIPTION,
    TRANSCRIBE,
    TRANSCRIPTION_QUEUE,
)
from towpath.recordings.records import Recording, recording_from
from towpath.recordings.stored import RecordingNotFound, title_from

_LONGEST_LANE = 500


@dataclass(frozen=True, slots=True)
class Options:
    """What an upload may say about itself; None is: as the settings say, or as the engine finds."""

    title: str | None = None
    language: str | None = None
    model: str | None = None
    """Who hears it, such as whisper/small; None is whoever does by default."""
    speakers: bool = False
    auto_summary: bool | None = None
    template: str | None = None
    """How it is summarised, see `templates`; None is the usual way."""
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


async def checked(app: App, options: Options) -> Options:
    """The options with model and language as they are kept; refused before anything is stored or queued."""
    model, language = await choices.checked_hearing(app, options.model, options.language or None)
    summary = app.settings.auto_summary if options.auto_summary is None else options.auto_summary
    return replace(options, model=model, language=language, auto_summary=summary)


@dataclass(frozen=True, slots=True)
class New:
    """A recording as it is going to be. Its id is made here, so that a unit that is run again makes the same one."""

    asset: Asset
    options: Options
    whose: Uploader
    stated: float | None
    id: str = field(default_factory=new_id)


async def prepare(app: App, asset: Asset, options: Options, whose: Uploader) -> New:
    """What has to be known and done before the transaction that makes it."""
    wanted = await checked(app, options)
    standing = await templates.find(app, whose.tenant, wanted.template)
    wanted = replace(wanted, template=None if standing is None else standing.id)
    await ensure_lane(app, whose.lane)
    async with open_file(app, asset) as path:
        return New(asset, wanted, whose, await asyncio.to_thread(lengths.stated, path))


async def create(app: App, asset: Asset, options: Options, whose: Uploader) -> tuple[str, str]:
    """Makes the recording of an asset and queues it; answers the ids of the recording and its job."""
    new = await prepare(app, asset, options, whose)
    return await app.transact(lambda tx: add(tx, new))


async def add(tx: Transaction, new: New) -> tuple[str, str]:
    """The same asset again gives the same recording, and its job if that is still there: the table has one for each."""
    asset, wanted, whose = new.asset, new.options, new.whose
    added = await tx.change(
        "recording_add", id=new.id, tenant=whose.tenant, lane=whose.lane, title=title_from(wanted.title, asset.name),
        file_name=asset.name, asset_id=asset.id, media_type=asset.media_type, bytes=asset.bytes,
        language=wanted.language, model=wanted.model, speakers=wanted.speakers, auto_summary=wanted.auto_summary,
        template=wanted.template, created_by=whose.account_id, creator=whose.name, now=tx.now, stated=new.stated,
    )  # fmt: skip
    if added:
        return new.id, await _queue(tx, TRANSCRIBE, new.id, whose.tenant, whose.lane, wanted)
    known = await tx.query("recording_by_asset", asset_id=asset.id)
    if not known:
        raise Transient("the recording of this file was deleted while it was looked up")
    jobs = (await tx.jobs_of(KIND, [known[0]["id"]]))[known[0]["id"]]
    return known[0]["id"], jobs[0].id if jobs else ""


async def reprocess_transcription(app: App, recording: Recording, options: Options) -> str:
    """Transcribes it anew with other settings; the present transcript stays until the new one is there."""
    wanted = await checked(app, options)
    await ensure_lane(app, recording.lane)

    async def unit(tx: Transaction) -> str:
        await _locked(tx, recording.id)
        await tx.change(
            "recording_settings", id=recording.id, language=wanted.language, model=wanted.model, speakers=wanted.speakers,
            auto_summary=wanted.auto_summary, template=wanted.template,
        )  # fmt: skip
        return await _queue(tx, REPROCESS_TRANSCRIPTION, recording.id, recording.tenant, recording.lane, wanted)

    return await app.transact(unit)


async def reprocess_summary(app: App, recording: Recording, options: Options) -> str:
    """Summarises it anew; the present summary stays until the new one is there."""

    async def unit(tx: Transaction) -> str:
        now = await _locked(tx, recording.id)
        await tx.change(
            "recording_settings", id=now.id, language=now.language, model=now.model, speakers=now.speakers,
            auto_summary=now.auto_summary, template=options.template,
        )  # fmt: skip
        return await queue_summary(tx, now, REPROCESS_SUMMARY, options.priority)

    return await app.transact(unit)


async def queue_summary(tx: Transaction, recording: Recording, kind: str, priority: int) -> str:
    """One at a time for a recording: asking again while one waits or runs gives that one."""
    return await tx.enqueue(
        kind, {"recording_id": recording.id}, tenant=recording.tenant, lane=recording.lane, priority=priority,
        key=recording.id, subject=(KIND, recording.id),
    )  # fmt: skip


async def _locked(tx: Transaction, recording_id: str) -> Recording:
    rows = await tx.query("recording_lock", id=recording_id)
    if not rows:
        raise RecordingNotFound(f"no recording has the id {recording_id!r}; it may have been deleted")
    return recording_from(rows[0])


async def _queue(tx: Transaction, kind: str, recording_id: str, tenant: str, lane: str, options: Options) -> str:
    payload = {"recording_id": recording_id, "language": options.language, "speakers": options.speakers}
    payload |= {"model": options.model} if options.model is not None else {}
    payload |= {"auto_summary": options.auto_summary, "replace_edits": options.replace_edits}
    return await tx.enqueue(
        kind, payload, tenant=tenant, lane=lane, priority=options.priority, key=recording_id, subject=(KIND, recording_id)
    )


async def ensure_lane(app: App, lane: str) -> None:
    """Caps how many recordings of a person are open, once; what an administrator has set since stays."""
    most = app.settings.open_recordings_per_user
    if most == 0:
        return
    known = await app.query("recording_lane_known", queue=TRANSCRIPTION_QUEUE, lane=lane)
    if not known:
        await app.queues.lane(TRANSCRIPTION_QUEUE, lane, max_roots=most)

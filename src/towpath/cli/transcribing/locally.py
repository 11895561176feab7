"""Files transcribed on this machine: the data directory is opened, and a worker runs in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from towpath import assets
from towpath.cli.data import database_in
from towpath.cli.transcribing.place import FileOptions, Look, Told, look_at
from towpath.core.records import DEFAULT_TENANT
from towpath.engine.app import App
from towpath.recordings import alike, attach, exports, stored
from towpath.recordings.audio import pieces_of
from towpath.recordings.intake import Options, Uploader, checked, create
from towpath.recordings.names import CARE_QUEUE, SUMMARY_QUEUE, TRANSCRIPTION_QUEUE
from towpath.recordings.views import RecordingView, views

_QUEUES = [TRANSCRIPTION_QUEUE, SUMMARY_QUEUE, CARE_QUEUE]


class OnThisMachine:
    def __init__(self, app: App) -> None:
        self._app = app

    async def find(self, digest: str, wishes: FileOptions) -> str | None:
        found = await alike.alike(self._app, DEFAULT_TENANT, digest, _options(wishes))
        return found.id if found is not None else None

    async def take_up(self, recording_id: str) -> None:
        await alike.take_up(self._app, await stored.find(self._app, recording_id))

    async def send(self, path: Path, wishes: FileOptions) -> str:
        options = await checked(self._app, _options(wishes))
        asset = await assets.receive(
            self._app, DEFAULT_TENANT, path.name, pieces_of(path), kinds=assets.MEDIA, created_by=None
        )
        recording_id, _ = await create(self._app, asset, options, Uploader(DEFAULT_TENANT))
        return recording_id

    async def look(self, ids: list[str]) -> dict[str, Look]:
        recordings = await stored.by_ids(self._app, ids)
        return {view.recording.id: _look(view) for view in await views(self._app, recordings)}

    async def export(self, recording_id: str, wanted: str) -> bytes:
        store = self._app
        recording = await stored.find(store, recording_id)
        transcript = await stored.transcript_of(store, recording)
        if transcript is None:
            raise stored.RecordingNotFound(f"{recording.title!r} has no transcript")
        lines = await stored.lines_of(store, transcript.id)
        what = exports.Exported(recording, transcript, lines, await stored.summary_of(store, recording))
        return await asyncio.to_thread(exports.rendered, what, wanted)


def _options(wishes: FileOptions) -> Options:
    return Options(language=wishes.language, model=wishes.model, speakers=wishes.speakers, auto_summary=wishes.summary)


def _look(view: RecordingView) -> Look:
    job = view.job
    told = None if job is None else Told(job.queue_type, job.progress, job.waiting_for, job.error_remedy)
    return look_at(view.status, view.recording.duration, view.warning, view.error, told)


@asynccontextmanager
async def on_this_machine(data: Path, concurrency: int) -> AsyncIterator[OnThisMachine]:
    """The data directory with a worker on it until the end. A server may run on it as well."""
    app = App(database_in(data))
    attach(app)
    async with app:
        worker = asyncio.create_task(app.run_worker(_QUEUES, concurrency, name="towpath transcribe"))
        try:
            yield OnThisMachine(app)
        finally:
            worker.cancel()
            with suppress(asyncio.CancelledError):
                await worker

"""The transcription of a recording: probe → decode → split → child jobs per group of windows → merge → save → index.

Each is recorded when it is done. After a crash the job is entered again from the top and everything on record is skipped,
down to single windows; see windows.py.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from towpath import App, Children, ChildrenFailed, Context, Fatal, Partial, SchemaInvalid, assets, choices, search
from towpath.assets.people import people_in
from towpath.models import windows
from towpath.recordings import audio, live, merging, stored, waveforms
from towpath.recordings.decoded_quota import DecodedQuota
from towpath.recordings.indexing import index
from towpath.recordings.learning import learn_beginning
from towpath.recordings.names import WINDOWS
from towpath.recordings.records import Recording
from towpath.recordings.saving import NewTranscript, save_transcript

_ENDLESS = 1000 * 3600.0
SILENT = "no speech was heard in it"


@dataclass(slots=True)
class Asked:
    """The payload of transcribe and reprocess_transcription."""

    recording_id: str
    language: str | None = None
    speakers: bool = False
    auto_summary: bool = False
    replace_edits: bool = False
    model: str | None = None


class Transcription:
    """The operation, bound to its app."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def run(self, ctx: Context, asked: Asked) -> dict[str, Any] | Partial:
        recording = await recording_for(ctx, asked.recording_id)
        began = time.monotonic()
        await ctx.step("probe", self._probe, recording)
        decoded = await ctx.step("decode", self._decode, ctx, recording)
        cut = await ctx.step("split", self._split, ctx, decoded, began)
        begun = await ctx.step("begin", self._begin, ctx, recording, asked)
        children = await self._hear(ctx, asked, decoded, cut, begun)
        saved = await ctx.step("save", self._save, ctx, recording, asked, decoded["seconds"], children)
        await audio.forget(ctx)
        await self._quota(ctx).give_back()
        if search.is_installed():
            await ctx.step("index", index, self._app, ctx, recording.id)
        outcome = {"recording_id": recording.id, "lines": saved["lines"], "seconds": decoded["seconds"]}
        why = saved["remark"] if saved["lines"] else SILENT
        return Partial(outcome, why) if why else outcome

    async def _begin(self, ctx: Context, recording: Recording, asked: Asked) -> dict[str, str | None]:
        """The transcript whose lines are shown while it is heard, if there is none yet; and who hears all of it, whatever
        people choose meanwhile."""
        growing = ctx.id if await live.begin(ctx, recording.id, "", asked.language) else None
        return {"growing": growing, "model": asked.model or await choices.default_hearing(self._app)}

    async def _probe(self, recording: Recording) -> dict[str, Any]:
        """What the file says about itself: quick, and enough to refuse what is no audio or far too long."""
        asset = await assets.get(self._app, recording.tenant, recording.asset_id)
        async with assets.open_file(self._app, asset) as path:
            info = await assets.probe(path)
        self._check_length(info.duration_seconds)
        return {"seconds": info.duration_seconds, "codec": info.codec, "container": info.container}

    async def _decode(self, ctx: Context, recording: Recording) -> dict[str, Any]:
        """The audio as the engines hear it. Its length is what was decoded, whatever the file said."""
        asset = await assets.get(self._app, recording.tenant, recording.asset_id)
        await audio.forget(ctx)  # of an attempt that died before it could tell that it was done
        key = audio.key_of(ctx)
        async with assets.open_file(self._app, asset) as path:
            peaks = waveforms.Peaks()
            decoded = waveforms.passing(self._pieces(assets.Decoding(path, self._limits()), recording), peaks)
            async with aclosing(decoded), self._quota(ctx).taken(decoded) as pieces:
                stored = await ctx.blobs.put(key, pieces)
        seconds = audio.seconds_in(stored.size)
        measured = {"id": recording.id, "duration": seconds, "peaks": waveforms.as_text(peaks.bytes())}
        await ctx.transact(lambda tx: tx.change("recording_measured", **measured))
        return {"audio": key, "seconds": seconds}

    def _quota(self, ctx: Context) -> DecodedQuota:
        return DecodedQuota(ctx, self._app.settings.decoded_quota_bytes)

    async def _pieces(self, decoding: assets.Decoding, recording: Recording) -> AsyncGenerator[bytes, None]:
        """What is refused breaks the stream off, so that nothing of it is kept."""
        size = 0
        async with aclosing(decoding.pieces()) as pieces:
            async for piece in pieces:
                size += len(piece)
                yield piece
        self._check_length(audio.seconds_in(size))
        if not size:
            raise SchemaInvalid(
                f"{recording.file_name!r} has an audio track without any audio in it",
                remedy="check the file in a player, and upload it again",
            )

    def _limits(self) -> assets.Limits:
        """A little more than what is taken, so that what is too long is told as such."""
        most = self._app.settings.max_recording_hours
        return assets.Limits(longest_seconds=most * 3600 + 60) if most else assets.Limits(longest_seconds=_ENDLESS)

    def _check_length(self, seconds: float | None) -> None:
        most = self._app.settings.max_recording_hours
        if most and seconds is not None and seconds > most * 3600:
            raise SchemaInvalid(
                f"the recording is {seconds / 3600:.1f} hours long, and this server transcribes at most {most:g}",
                remedy="cut it into parts, or raise TOWPATH_MAX_RECORDING_HOURS",
            )

    async def _split(self, ctx: Context, decoded: dict[str, Any], began: float) -> list[tuple[float, float]]:
        """Windows that end where nobody speaks. The progress counts seconds of audio from here on."""
        async with audio.local_copy(ctx.blobs, decoded["audio"]) as path:
            found = await asyncio.to_thread(windows.split, path)
        await ctx.progress(0.0, decoded["seconds"])
        await learn_beginning(ctx, decoded["seconds"], time.monotonic() - began)
        return [(round(window.start, 3), round(window.end, 3)) for window in found]

    async def _hear(
        self,
        ctx: Context,
        asked: Asked,
        decoded: dict[str, Any],
        cut: list[tuple[float, float]],
        begun: dict[str, str | None],
    ) -> Children:
        groups = _groups(asked, decoded["audio"], cut, begun)
        try:
            return await ctx.gather(WINDOWS, groups, cost=max(1.0, decoded["seconds"] / len(groups)))
        except ChildrenFailed as failed:
            raise await _as_one(failed) from failed

    async def _save(
        self, ctx: Context, recording: Recording, asked: Asked, seconds: float, children: Children
    ) -> dict[str, Any]:
        """Merges what the children heard and puts it in place; answers how many lines there are and what to know of them."""
        results = await children.results()
        heard, (took, heard_at) = merging.merged(results), await _took(children)
        told = await asyncio.to_thread(people_in, heard) if asked.speakers else None
        lines = [
            [*line[:2], told.people[number] if told else None, line[3], told.places[number] if told else None]
            for number, line in enumerate(heard)
        ]
        engine = merging.engine_in(results)
        remark = merging.remark_in(results)
        new = NewTranscript(
            recording.id, engine, merging.language_in(heard) or asked.language, lines, seconds, took,
            merging.cost_in(results), asked.replace_edits, heard_at, remark,
        )  # fmt: skip
        if not await save_transcript(ctx, new, summarize=asked.auto_summary and bool(lines) and remark is None):
            raise gone(recording.id)
        await ctx.progress(seconds, seconds)
        return {"lines": len(lines), "remark": remark}


def _groups(
    asked: Asked, audio_key: str, cut: list[tuple[float, float]], begun: dict[str, str | None]
) -> list[dict[str, Any]]:
    heard_as = {
        "audio": audio_key, "language": asked.language, "speakers": asked.speakers,
        "recording_id": asked.recording_id, **begun,
    }  # fmt: skip
    parts = merging.groups(cut)
    doubted = {0, len(parts) // 2}  # another language would be spoken in most of it
    return [{"windows": part, "doubted": number in doubted, **heard_as} for number, part in enumerate(parts)]


async def _as_one(failed: ChildrenFailed) -> ChildrenFailed:
    """The reason of the first part that failed: who uploaded a recording knows of no parts."""
    async for child in failed.children:
        if child.error:
            told = ChildrenFailed(str(child.error["message"]), children=failed.children)
            told.remedy = child.error.get("remedy")
            return told
    return failed


async def recording_for(ctx: Context, recording_id: str) -> Recording:
    """Only of the job's own tenant: a payload is not believed."""
    try:
        return await stored.find(ctx, recording_id, tenant=ctx.tenant)
    except stored.RecordingNotFound:
        raise gone(recording_id) from None


def gone(recording_id: str) -> Fatal:
    return Fatal(f"the recording {recording_id} has been deleted", remedy="delete this job too")


async def _took(children: Children) -> tuple[float | None, datetime | None]:
    """Seconds from the first child's beginning to the last one's end, and when that was."""
    spans = [(child.started_at, child.finished_at) async for child in children]
    began = [first for first, _ in spans if first is not None]
    ended = [last for _, last in spans if last is not None]
    if not began or not ended:
        return None, None
    return (max(ended) - min(began)).total_seconds(), max(ended)

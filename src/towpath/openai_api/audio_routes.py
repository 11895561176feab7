"""/v1/audio/transcriptions: a file in, its text out, by a recording that is there for as long as that takes.

It is a recording like any other from the moment the file is here: queued fairly, resumed after a crash. When its text has
been handed over it is removed with its file. Whoever hangs up before finds it among their recordings instead, so that
nothing of what was accepted is lost.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from fastapi import Request
from fastapi.responses import Response
from starlette.background import BackgroundTask

from towpath import App, JobNotFound, SchemaInvalid, State, Transaction, assets, choices
from towpath.assets import Sender, uploads
from towpath.assets.new_asset import describe
from towpath.assets.streamed import drop
from towpath.http import bodies
from towpath.http.audit import audit
from towpath.http.forms import FORM, Form, receive_form
from towpath.http.policy import TokenWriter
from towpath.http.problem import Problem
from towpath.http.routing import Router
from towpath.http.senders import sender_of
from towpath.http.state import Engine
from towpath.openai_api import transcripts
from towpath.openai_api.errors import Refused, wrong
from towpath.recordings import removing, stored
from towpath.recordings.uploads import PURPOSE

router = Router(prefix="/v1/audio")
bodies.stream("POST", "/v1/audio/transcriptions", FORM)
_FIELDS = ("model", "language", "prompt", "response_format", "temperature", "stream", "timestamp_granularities")
_PATIENCE = 24 * 3600.0
_MARK = "openai_transcription"


@dataclass(frozen=True, slots=True)
class Asked:
    format: str
    language: str | None


@router.post("/transcriptions", name="openai_transcription.create", response_class=Response)
async def transcribe(principal: TokenWriter, app: Engine, request: Request) -> Response:
    sender = sender_of(principal)
    form = await receive_form(app, request, sender, kinds=assets.MEDIA)
    try:
        asked = await _asked(app, form)
        taken = await _submit(app, sender, form, asked)
    except BaseException:
        await drop(app, form.file)
        raise
    audit(request, "openai_transcription.create", taken.upload_id, bytes=form.file.intake.bytes)
    gone = asyncio.ensure_future(_hangs_up(request))
    working = asyncio.ensure_future(_text_of(app, sender.tenant, taken, asked))
    try:
        await asyncio.wait({gone, working}, return_when=asyncio.FIRST_COMPLETED)
        if gone.done() or not working.done():
            raise Refused(400, "The client went away; the recording stays in its list.")
        return await working
    finally:
        gone.cancel()
        working.cancel()


async def _asked(app: App, form: Form) -> Asked:
    fields, lists = form.fields, form.lists
    if unknown := sorted({*fields, *lists} - set(_FIELDS)):
        raise wrong(unknown[0][:100], f"Unknown parameter: {unknown[0][:100]!r}.", "unknown_parameter")
    if not fields.get("model"):
        raise wrong("model", "Missing required parameter: 'model'.", "missing_required_parameter")
    wanted = fields.get("response_format", "json")
    if wanted not in transcripts.FORMATS:
        known = ", ".join(transcripts.FORMATS)
        raise wrong("response_format", f"Invalid value: {wanted[:50]!r}. Supported values are: {known}.")
    if fields.get("stream", "false").lower() not in ("false", "0"):
        raise wrong("stream", "Transcriptions are not streamed here: leave 'stream' out.")
    if set(lists.get("timestamp_granularities", ())) - {"segment"}:
        raise wrong("timestamp_granularities", "Only segments have times here: ask for 'segment', or leave it out.")
    try:
        _, language = await choices.checked_hearing(app, None, fields.get("language"))
        return Asked(wanted, language)
    except SchemaInvalid as error:
        raise wrong("language", str(error)) from None


async def _submit(app: App, sender: Sender, form: Form, asked: Asked) -> uploads.Submitted:
    async def unit(tx: Transaction) -> None:
        await describe(tx, form.file.id, {_MARK: True})

    await app.transact(unit)
    options = {"auto_summary": "false"} | ({"language": asked.language} if asked.language else {})
    return await uploads.submit(app, sender, form.file, PURPOSE, options)


async def _hangs_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _text_of(app: App, tenant: str, taken: uploads.Submitted, asked: Asked) -> Response:
    upload = await uploads.ended(app, taken.upload_id, taken.job_id, within=_PATIENCE)
    if upload is None or upload.result is None:
        raise await _not_taken(app, taken)
    recording_id, job_id = upload.result["id"], upload.result["job_id"]
    try:
        async for _ in app.events(job_id=job_id, follow=True):
            pass
        recording = await stored.find(app, recording_id, tenant=tenant)
        job = await app.get(job_id)
    except (JobNotFound, stored.RecordingNotFound):
        raise _cancelled() from None
    transcript = await stored.transcript_of(app, recording)
    done = BackgroundTask(removing.remove, app, [recording])
    if transcript is None:
        await done()
        if job.state is State.CANCELLED:
            raise _cancelled()
        raise _failed(job.error_kind, (job.error or {}).get("message") or "it could not be transcribed")
    lines = await stored.lines_of(app, transcript.id)
    response = transcripts.answer(asked.format, recording, transcript, lines, asked.language or "unknown")
    response.background = done
    return response


async def _not_taken(app: App, taken: uploads.Submitted) -> Problem:
    failed = await uploads.failed_job(app, taken.upload_id)
    if failed is not None:
        return _failed(failed.error_kind, (failed.error or {}).get("message") or "it could not be handed over")
    return Refused(400, "The file was given up before it was transcribed.", code="cancelled")


def _cancelled() -> Refused:
    return Refused(400, "The transcription was cancelled, or its recording deleted, by somebody here.", code="cancelled")


def _failed(kind: str | None, why: str) -> Problem:
    """What is wrong with the file is the sender's; everything else is ours."""
    if kind == "schema_invalid":
        return Refused(400, why, param="file", code="invalid_file")
    return Problem("internal", 500, why)

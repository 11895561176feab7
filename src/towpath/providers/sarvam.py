"""Sarvam's batch speech-to-text through sarvamai. Files are sent to it, and jobs bear no name of ours: grade C.

A job is made and its files are uploaded before anything costs; `prepare` does that and its id is stored, so that `find` can
at least ask for this one job. Starting it is the one call that costs.
"""

from __future__ import annotations

import hmac
import json
import uuid
from collections.abc import AsyncGenerator, Mapping
from pathlib import PurePath
from typing import Any

from towpath.core.errors import Fatal, SchemaInvalid, Transient
from towpath.providers.contract import Answer, Counts, Files, Found, Grade, Limits, Order, Phase, Prepared, Result, Vanished
from towpath.providers.refusals import told
from towpath.providers.sarvam_api import NoSuchJob, SarvamApi
from towpath.providers.speech_options import check_count, check_speech, speech_options

_KNOWS = frozenset({"locale", "diarization", "word_timestamps"})
_PHASES = {"completed": Phase.COMPLETED, "partiallycompleted": Phase.PARTIAL, "failed": Phase.FAILED}
_NOT_STARTED = "accepted"
_CALLBACK_TOKEN = "x-sarvam-job-callback-token"


class SarvamSpeech:
    name = "SARVAM"
    grade = Grade.AMBIGUOUS
    task_types = frozenset({"transcription"})
    limits = Limits(count=20)
    reads: frozenset[str] = frozenset()
    cancels = False
    prepares_again = False
    submit_seconds = 60.0

    def __init__(
        self,
        *,
        key: str | None = None,
        endpoint: str | None = None,
        callback_token: str | None = None,
        timeout: float = 60.0,
    ) -> None:
        self._api = SarvamApi(endpoint, key, timeout)
        self._token = callback_token or ""

    async def check(self, order: Order | None = None) -> None:
        self._api.check()
        if order is None:
            return
        wanted = check_speech(self.name, order, _KNOWS)
        check_count(self.name, order, self.limits.count)
        if wanted.words:
            said = f"{self.name} tells when phrases begin and end, not words"
            raise SchemaInvalid(said, path="options.word_timestamps")
        if order.output is not None:
            raise SchemaInvalid(f"{self.name} keeps results itself, and takes no folder", path="output")

    async def probe(self) -> str:
        """It has no lists. A job that nobody has made is asked for: whoever is let in is told that there is none."""
        try:
            await self._status(str(uuid.uuid4()))
        except (NoSuchJob, SchemaInvalid):
            pass
        except Vanished as error:
            raise Fatal(str(error), remedy="check the endpoint: it is of another service, or of none") from None
        return "a job that there is not, for want of lists"

    async def prepare(self, order: Order, files: Files) -> Prepared:
        request = {"job_parameters": _parameters(order)}
        if order.callback and self._token:
            request["callback"] = {"url": order.callback, "auth_token": self._token}
        try:
            made = await self._api.call(lambda jobs, options: jobs.initialise(**request, **options))
        except Vanished as error:
            raise Fatal(str(error), remedy="check the endpoint: it is of another service, or of none") from None
        names = _names(order)
        asked = {"job_id": made.job_id, "files": list(names)}
        links = await self._api.call(lambda jobs, options: jobs.get_upload_links(**asked, **options))
        for given, name in zip(order.inputs, names, strict=True):
            await self._api.upload(_link(links.upload_urls, name), files, given.blob or "", name)
        return {"job_id": made.job_id}

    async def submit(self, order: Order, prepared: Prepared) -> str:
        """A job that refuses to be started may have been started before."""
        job_id = str(prepared["job_id"])
        try:
            await self._api.call(lambda jobs, options: jobs.start(job_id, **options))
        except SchemaInvalid:
            if await self.find(order, prepared) is None:
                raise
        return job_id

    async def find(self, order: Order, prepared: Prepared) -> Found | None:
        try:
            status = await self._status(str(prepared["job_id"]))
        except Vanished:
            return None
        return None if status.job_state.lower() == _NOT_STARTED else Found(status.job_id, status.job_state)

    async def poll(self, order: Order, prepared: Prepared, external_id: str) -> Answer:
        status = await self._status(external_id)
        phase = _PHASES.get(status.job_state.lower(), Phase.RUNNING)
        if not phase.ended:
            return Answer(status.job_state, phase)
        total, failed = status.total_files or len(order.inputs), status.failed_files_count or 0
        counts = Counts(total, status.successful_files_count or 0, failed)
        if phase is Phase.COMPLETED and failed:
            phase = Phase.PARTIAL
        error = (told(status.error_message or "") or "Sarvam gives no reason") if phase is Phase.FAILED else None
        return Answer(status.job_state, phase, error, counts=counts)

    async def fetch(self, order: Order, prepared: Prepared, external_id: str) -> AsyncGenerator[Result, None]:
        refs = dict(zip(_names(order), (given.ref for given in order.inputs), strict=True))
        made: dict[str, str] = {}
        for detail in (await self._status(external_id)).job_details or []:
            ref = refs.get(detail.inputs[0].file_name) if detail.inputs else None
            if ref is None:
                continue
            if detail.state == "Success" and detail.outputs:
                made[detail.outputs[0].file_name] = ref
            else:
                error = told(detail.error_message or "") or f"{detail.state or 'no state'}, and no reason"
                yield Result(ref, error=error, code=detail.exception_name or detail.state)
        if made:
            asked = {"job_id": external_id, "files": list(made)}
            links = await self._api.call(lambda jobs, options: jobs.get_download_links(**asked, **options))
            for name, ref in made.items():
                yield Result(ref, await self._api.document(_link(links.download_urls, name)))

    async def cancel(self, order: Order, prepared: Prepared, external_id: str) -> None:
        """There is no way to."""

    async def clean(self, order: Order, prepared: Prepared) -> None:
        """There is no way to remove a job or its files."""

    def called_back(self, headers: Mapping[str, str], body: bytes) -> str | None:
        given = {name.lower(): value for name, value in headers.items()}.get(_CALLBACK_TOKEN, "")
        if not self._token or not hmac.compare_digest(given.encode(), self._token.encode()):
            return None
        try:
            job_id = json.loads(body)["job_id"]
        except (ValueError, KeyError, TypeError):
            return None
        return job_id if isinstance(job_id, str) and job_id else None

    async def aclose(self) -> None:
        await self._api.aclose()

    async def _status(self, job_id: str) -> Any:
        return await self._api.call(lambda jobs, options: jobs.get_status(job_id, **options))


def _parameters(order: Order) -> dict[str, Any]:
    wanted = speech_options(order)
    parameters: dict[str, Any] = {"language_code": wanted.locale or "unknown", "with_timestamps": True}
    if wanted.speakers is not None:
        parameters["with_diarization"] = True
        if wanted.speakers:
            parameters["num_speakers"] = wanted.speakers
    return parameters | ({"model": order.model} if order.model else {})


def _names(order: Order) -> tuple[str, ...]:
    """What files are called there: unlike each other, whatever they are called here, and of this order."""
    return tuple(f"{order.key}.{n}{PurePath(given.filename).suffix}" for n, given in enumerate(order.inputs))


def _link(links: Any, name: str) -> str:
    if name not in links:
        raise Transient(f"SARVAM gave no link for {name!r}")
    return str(links[name].file_url)
